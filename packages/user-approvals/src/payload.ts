import { issuesOfZod, type Issue } from '@handraise/user-questions/types'
import { z } from 'zod'
import { isPlain } from './exact-text.ts'
import { checkOffers, choiceSchema, type ApprovalChoice } from './choice.ts'
import { subjectSchema, type ApprovalSubject } from './subject.ts'

/** The kind of approvals in the inbox. */
export const APPROVAL = 'approval'

/** One requirement of an approval, as the inbox keeps it. */
export interface ApprovalPayload {
  readonly version: 1
  /** The approval it belongs to; a pipeline has a requirement for each of its stages. */
  readonly approvalId: string
  readonly requirement: { readonly index: number; readonly total: number }
  readonly toolName: string
  /** What is to be done, all of it. */
  readonly subject: ApprovalSubject
  /** The words by which a script names it: the command, the path, the host with its port, the tool with its input. */
  readonly subjectName: string
  /** The part of it that this requirement is about, in the same words, when there is more than one. */
  readonly stage?: string | undefined
  /** What the subject comes to where that is not what it says: a path behind a link, a host in another notation. */
  readonly resolved?: readonly string[] | undefined
  readonly reason?: string | undefined
  /** The child that asks, when its root lets it. */
  readonly child?: string | undefined
  readonly callId?: string | undefined
  /** Of the tool and its exact input. */
  readonly inputDigest: string
  /** Neither a rule nor a mode may answer it. */
  readonly protected?: boolean | undefined
  /** In the order in which they are shown. */
  readonly choices: readonly ApprovalChoice[]
}

/** What a person decided. */
export interface ApprovalAnswer {
  readonly choiceId: string
  readonly feedback?: string | undefined
}

export const payloadSchema = z.strictObject({
  version: z.literal(1),
  approvalId: z.string().min(1).max(200),
  requirement: z.strictObject({ index: z.int().min(0), total: z.int().min(1) }),
  toolName: z.string().min(1).max(200),
  subject: subjectSchema,
  subjectName: z.string(),
  stage: z.string().optional(),
  // Lines of ours: none holds a break, or anything that does not show as itself.
  resolved: z.array(z.string().refine(isPlain)).max(10).optional(),
  reason: z.string().max(10_000).optional(),
  child: z.string().optional(),
  callId: z.string().optional(),
  inputDigest: z.string(),
  protected: z.boolean().optional(),
  choices: z
    .array(choiceSchema)
    .min(1)
    .max(32)
    .superRefine((choices, context) => {
      for (const { path, message } of checkOffers(choices))
        context.addIssue({ code: 'custom', message: `${path} ${message}` })
    }),
})

const answerSchema = z.strictObject({
  choiceId: z.string(),
  feedback: z.string().max(10_000).optional(),
})

export function readPayload(value: unknown): ApprovalPayload | undefined {
  return payloadSchema.safeParse(value).data
}

export type AnswerCheck =
  | { readonly ok: true; readonly answer: ApprovalAnswer; readonly choice: ApprovalChoice }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** Only an offered choice is one, and words go only with a choice that takes them. */
export function checkApprovalAnswer({ choices }: ApprovalPayload, value: unknown): AnswerCheck {
  const fault = (path: string, message: string): AnswerCheck => ({ ok: false, issues: [{ path, message }] })
  const offered = choices.map(each => JSON.stringify(each.choiceId)).join(', ')
  if ((value as { choiceId?: unknown } | undefined)?.choiceId === undefined)
    return fault('choiceId', `names no choice that was offered; offered: ${offered}`)
  const parsed = answerSchema.safeParse(value)
  if (!parsed.success) return { ok: false, issues: issuesOfZod(parsed.error) }
  const { choiceId, feedback } = parsed.data
  const choice = choices.find(each => each.choiceId === choiceId)
  if (choice === undefined) {
    return fault('choiceId', `${JSON.stringify(choiceId)} was not offered; offered: ${offered}`)
  }
  const words = feedback === undefined || feedback.trim() === '' ? undefined : feedback
  if (words !== undefined && choice.acceptsFeedback !== true) {
    const taking = choices
      .filter(each => each.acceptsFeedback === true)
      .map(each => JSON.stringify(each.label))
    return fault(
      'feedback',
      `does not go with ${JSON.stringify(choice.label)}; ${taking.length === 0 ? 'no choice takes it here' : `it goes with ${taking.join(', ')}`}`,
    )
  }
  return { ok: true, choice, answer: { choiceId, ...(words === undefined ? {} : { feedback: words }) } }
}
