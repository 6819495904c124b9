import type { AgentLike } from '@handraise/user-questions/types'
import { issuesOfZod, type Issue } from '@handraise/user-questions/types'
import { z } from 'zod'
import { checkOffers, choiceSchema, DEFAULT_CHOICES, type ApprovalChoiceOffer } from './choice.ts'
import { subjectSchema, type ApprovalSubject } from './subject.ts'

/** Permission that is asked for: one concrete action. */
export interface ApprovalRequest {
  /** The tool that would act. */
  readonly toolName: string
  /** The exact subject. Another one is another approval. */
  readonly subject: ApprovalSubject
  /** The directory the tool works in, absolute: where relative paths start, and where a command without a `cwd` is run. */
  readonly cwd?: string | undefined
  /** Why, in the agent's words. */
  readonly reason?: string | undefined
  /** The asking agent: the exact live instance. Absent: the host itself asks. */
  readonly agent?: AgentLike | undefined
  /** The session it belongs to: rules and modes of a session hold within it. */
  readonly session?: string | undefined
  /** Aborting it withdraws the approval. */
  readonly signal?: AbortSignal | undefined
  /** The tool call. With it, the approval survives this process, and the same call asked again gets what was decided. */
  readonly callId?: string | undefined
  /** Default: allow once, for this session, always; deny, with words or without. */
  readonly choices?: readonly ApprovalChoiceOffer[] | undefined
  /** How long to wait for a decision until nobody made one, in milliseconds. Default: for ever. */
  readonly timeoutMs?: number | undefined
  /**
   * How long this caller waits, in milliseconds; then the outcome is `pending`, and the approval stays open for the
   * call to come back to. Default: for ever.
   */
  readonly patienceMs?: number | undefined
  /** The agent itself asks for permission, which the mode `onRequest` goes by. Default false. */
  readonly requested?: boolean | undefined
  /** Neither a rule nor a mode may allow it: a person is asked. Default false. */
  readonly protected?: boolean | undefined
}

const requestSchema = z.object({
  toolName: z.string().min(1).max(200),
  subject: subjectSchema,
  cwd: z.string().min(1).max(4_096).optional(),
  reason: z.string().max(10_000).optional(),
  session: z.string().max(1_000).optional(),
  callId: z.string().min(1).max(500).optional(),
  timeoutMs: z.number().positive().optional(),
  patienceMs: z.number().min(0).optional(),
  choices: z
    .array(
      z.object({
        ...choiceSchema.shape,
        rule: z.never().optional(),
        rulePreview: z.never().optional(),
        breadth: z
          .strictObject({
            argvPrefix: z.int().min(1).optional(),
            within: z.string().min(1).optional(),
          })
          .optional(),
      }),
    )
    .min(1)
    .max(32)
    .optional(),
})

/** Every fault that keeps an approval from being asked for, by path. */
export function checkRequest(request: ApprovalRequest): Issue[] {
  const parsed = requestSchema.safeParse(request)
  if (!parsed.success) return issuesOfZod(parsed.error)
  const issues = checkOffers(request.choices ?? DEFAULT_CHOICES)
  // Whoever comes back later finds it by its call, and by nothing else.
  if (request.patienceMs !== undefined && request.callId === undefined)
    issues.push({ path: 'patienceMs', message: 'needs a callId, by which the approval is found again' })
  return issues
}
