import { InboxError, isSettled, type Decision, type Inbox, type InboxRequest } from '@handraise/inbox'
import { APPROVAL, readPayload } from '@handraise/user-approvals'
import type { Answer } from '@handraise/user-questions/types'
import { toApprovalAnswer } from './approval-reply.ts'
import type { UnansweringReason } from './hand-on.ts'
import { APPROVE, DENY, type ThreadItem } from './items.ts'
import type { OpenPrompt, OpenPrompts } from './open-prompts.ts'
import { askedOf } from './prompt.ts'
import { readReply, type Asked, type Reply, type SeveralPolicy } from './read-reply.ts'

export interface RepliesOptions {
  readonly inbox: Inbox
  readonly threadId: string
  readonly prompts: OpenPrompts
  readonly several: SeveralPolicy
  /** Whose items may answer, as the option says. */
  readonly mayAnswer: (author: string, request: InboxRequest) => boolean
  /** The request of a prompt; undefined where there can be none. */
  readonly requestOf: (prompt: OpenPrompt) => Promise<InboxRequest | undefined>
}

/** How often a reply is tried whose kind nobody has registered yet. */
const MOST_TRIES = 4

/** Answers requests with the items of others. */
export class Replies {
  private readonly options: RepliesOptions
  private readonly triesOf = new Map<string, number>()

  constructor(options: RepliesOptions) {
    this.options = options
  }

  /**
   * Resolves with why the item answered nothing, and with nothing where it did. Rejects when it cannot be told yet: the
   * same item is to be given again.
   */
  async take(item: ThreadItem): Promise<UnansweringReason | undefined> {
    const { prompts, several, requestOf } = this.options
    if (item.edited === true) return 'edited'
    if (prompts.size === 0) return 'no-prompt'
    const prompt = prompts.before(item.position)
    if (prompt === undefined) return 'before-prompt'
    const request = await requestOf(prompt)
    if (request === undefined) return 'already-settled'
    if (!this.options.mayAnswer(item.author, request)) return 'not-allowed'
    // The inbox settles it, at once, whatever was said while nothing ran.
    const { deadlineAt = Infinity } = request
    if (deadlineAt <= this.options.inbox.clock.now()) return 'already-settled'
    const asked = askedOf(request, this.options.inbox.kindOf(request), prompt.kind)
    if (asked === undefined) return this.later(item, request)
    const { toAsk, origin } = prompt
    const kept = toAsk ?? origin?.kept
    const isAlone = toAsk === undefined && kept !== undefined
    const reply = readReply({ ...asked, promptId: prompt.promptId, kept, isAlone }, item, several)
    if (reply.reads === 'nothing') return reply.why
    if (reply.reads === 'part') return this.keep(prompt, request, reply)
    return this.decide(prompt, request, asked, reply, item)
  }

  // Who owns the kind may be mounted after the thread.
  private later({ id }: ThreadItem, { kind }: InboxRequest): 'unanswerable' {
    const tries = (this.triesOf.get(id) ?? 0) + 1
    this.triesOf.set(id, tries)
    if (tries < MOST_TRIES) throw new InboxError('UNKNOWN_KIND', { kind })
    this.triesOf.delete(id)
    return 'unanswerable'
  }

  private async keep(
    { promptId }: OpenPrompt,
    request: InboxRequest,
    { kept, used }: Extract<Reply, { reads: 'part' }>,
  ): Promise<UnansweringReason | undefined> {
    if (isSettled(request)) return 'already-settled'
    await this.options.inbox.engage(request.id)
    this.options.prompts.note(promptId, { toAsk: kept })
    return used ? undefined : 'several'
  }

  private async decide(
    { promptId }: OpenPrompt,
    request: InboxRequest,
    { questions }: Asked,
    reply: Extract<Reply, { reads: 'answers' | 'approval' }>,
    item: ThreadItem,
  ): Promise<UnansweringReason | undefined> {
    const { inbox, threadId, prompts } = this.options
    const answers = reply.reads === 'answers' ? reply.answers : toChoice(questions[0]?.id ?? '', reply)
    const decision: Decision = { outcome: 'answered', answer: this.toAnswer(request, reply, answers) }
    // Read again after a crash, the same item says the same.
    const command = { commandId: `thread ${JSON.stringify([threadId, item.id])}`, surface: 'thread' } as const
    try {
      await inbox.decide(request.id, decision, { ...command, by: 'user' })
    } catch (error) {
      const why = InboxError.isInstance(error) ? refusals[error.code] : undefined
      if (why === undefined) throw error
      // It was this item that answered, however it is read now.
      if (why !== 'itself') return why
    }
    prompts.note(promptId, { given: answers })
    return undefined
  }

  private toAnswer(request: InboxRequest, reply: Reply, answers: readonly Answer[]): unknown {
    const { inbox } = this.options
    const payload = request.kind === APPROVAL ? readPayload(request.payload) : undefined
    if (payload !== undefined && reply.reads === 'approval')
      return toApprovalAnswer(payload.choices, reply.approval)
    return inbox.kindOf(request)?.fromAnswers(request.payload, answers)
  }
}

const refusals: Partial<Record<string, UnansweringReason | 'itself'>> = {
  ALREADY_SETTLED: 'already-settled',
  UNKNOWN_REQUEST: 'already-settled',
  COMMAND_CONFLICT: 'itself',
  BAD_ANSWER: 'bad-answer',
}

// An approval of another implementation is a question here, with the two options.
function toChoice(id: string, { approval }: Extract<Reply, { reads: 'approval' }>): Answer[] {
  const { allowed, words } = approval
  return [{ id, selected: [allowed ? APPROVE : DENY], ...(words === undefined ? {} : { note: words }) }]
}
