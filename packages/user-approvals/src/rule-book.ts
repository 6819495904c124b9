import type { InboxRequest, InboxStore, JsonValue, RecordWrite } from '@handraise/inbox'
import { z } from 'zod'
import { UserApprovalError } from './error.ts'
import { matchRule, previewOf, ruleSchema, type ApprovalRule } from './rule.ts'
import type { ResolvedSubject } from './resolve-subject.ts'

const NAMESPACE = 'approval-rules'

/** A rule a person made by allowing more than once. */
export interface RememberedRule {
  /** What it is revoked by. */
  readonly id: string
  readonly rule: ApprovalRule
  /** The words in which the person was shown it. */
  readonly preview: string
  /** The session it ends with; absent: it holds until it is revoked. */
  readonly session?: string | undefined
  /** The approval that made it. */
  readonly approvalId: string
  /** Milliseconds since the Unix epoch. */
  readonly madeAt: number
}

const recordSchema = z.object({
  version: z.literal(1),
  rule: ruleSchema,
  session: z.string().optional(),
  approvalId: z.string(),
  madeAt: z.number(),
})

/** The write that remembers a rule, in the same step as the settlement that makes it. */
export function rememberRule(
  request: InboxRequest,
  made: {
    readonly rule: ApprovalRule
    readonly session?: string
    readonly approvalId: string
    readonly madeAt: number
  },
): RecordWrite {
  const value = { version: 1, ...made } as unknown as JsonValue
  return { namespace: NAMESPACE, key: request.id, value, expectedVersion: 0 }
}

/** The remembered rules, kept in the inbox's store. */
export class RuleBook {
  private readonly store: InboxStore

  constructor(store: InboxStore) {
    this.store = store
  }

  /** All rules, or those that hold in a session, the oldest first. A record this version does not read is no rule. */
  async list(session?: string): Promise<RememberedRule[]> {
    return (await this.read(session)).map(withPreview)
  }

  /** The first rule that covers what is to be done in this session. */
  async find(
    session: string,
    toolName: string,
    subject: ResolvedSubject,
  ): Promise<RememberedRule | undefined> {
    const found = (await this.read(session)).find(
      ({ rule }) => mayMatch(rule, toolName, subject) && matchRule(rule, toolName, subject).matches,
    )
    return found && withPreview(found)
  }

  /** Forgets a rule, for what is asked from now on. Rejects with `UNKNOWN_RULE`. */
  async revoke(id: string): Promise<RememberedRule> {
    const rule = (await this.read()).find(each => each.id === id)
    if (rule === undefined) throw new UserApprovalError('UNKNOWN_RULE', { id })
    await this.store.writeRecords([{ namespace: NAMESPACE, key: id, value: null }])
    return withPreview(rule)
  }

  /** Forgets the rules of a session that has ended. Returns how many there were. */
  async endSession(session: string): Promise<number> {
    const rules = (await this.read()).filter(rule => rule.session === session)
    if (rules.length > 0) {
      await this.store.writeRecords(rules.map(({ id }) => ({ namespace: NAMESPACE, key: id, value: null })))
    }
    return rules.length
  }

  private async read(session?: string): Promise<KeptRule[]> {
    return (await this.store.records(NAMESPACE))
      .flatMap(({ key: id, value }): KeptRule[] => {
        const parsed = recordSchema.safeParse(value)
        if (!parsed.success) return []
        const { version: _, ...rule } = parsed.data
        return [{ id, ...rule }]
      })
      .filter(rule => session === undefined || rule.session === undefined || rule.session === session)
      .toSorted((one, other) => one.madeAt - other.madeAt)
  }
}

type KeptRule = Omit<RememberedRule, 'preview'>

// Written out only for the rules that somebody is told of: every approval looks through all of them.
function withPreview({ id, rule, ...rest }: KeptRule): RememberedRule {
  return { id, rule, preview: previewOf(rule), ...rest }
}

// Said at a glance of most rules, so that many of them cost little.
function mayMatch({ toolName, match }: ApprovalRule, tool: string, subject: ResolvedSubject): boolean {
  if (toolName !== tool || match.kind !== subject.kind) return false
  return match.kind !== 'shell' || subject.kind !== 'shell' || match.argv[0] === subject.stages[0]?.argv[0]
}
