import { MOST_ROUNDS, timeReply, type ReplyTiming } from '@handraise/elicitation'
import { methods } from '@agentclientprotocol/sdk'
import type { ApprovalPayload } from '@handraise/user-approvals'
import {
  isSkip,
  UserQuestionError,
  type Answer,
  type AskUserQuestionAnswer,
  type Question,
} from '@handraise/user-questions/types'
import { shownToNobody, stoppable, toEnding, type AcpClient } from './client.ts'
import { offerChoice, permissionReplySchema, type PermissionOffer } from './permission.ts'
import { toToolCall } from './tool-call.ts'

/** Where and about what a permission is asked. */
export interface PermissionScene {
  readonly client: AcpClient
  readonly sessionId: string
  readonly toolCallId: string
  readonly approval?: ApprovalPayload | undefined
  readonly timing: ReplyTiming
}

/**
 * Asks by one permission request, and again when what comes back is none of its options, three times at most. Rejects with
 * `ASK_CANCELLED`, `ASK_DECLINED`, with `ASK_UNAVAILABLE` for a reply that no person gave, and with an `Error` for one
 * that cannot be read.
 */
export async function askPermission(
  scene: PermissionScene,
  question: Question,
  { options, meaningOf, personal }: PermissionOffer,
  signal: AbortSignal,
): Promise<Answer> {
  const { client, sessionId, toolCallId, approval, timing } = scene
  let notice: string | undefined
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    const toolCall = toToolCall(toolCallId, question, { approval, notice })
    const show = (): Promise<unknown> =>
      client.request(
        methods.client.session.requestPermission,
        { sessionId, toolCall, options },
        stoppable(signal),
      )
    const { reply, isTooFast } = await timeReply(show, timing)
    const parsed = permissionReplySchema.safeParse(reply)
    if (!parsed.success) throw new Error('the client did not say what became of the permission request')
    const { outcome } = parsed.data
    if (outcome.outcome === 'cancelled') throw new UserQuestionError('ASK_CANCELLED')
    const { optionId } = outcome
    if (isTooFast && personal.has(optionId)) throw shownToNobody()
    const meaning = meaningOf.get(optionId)
    if (meaning === 'declined') throw new UserQuestionError('ASK_DECLINED')
    if (meaning !== undefined) return meaning.answer
    notice = `${JSON.stringify(optionId)} is none of the options. Please choose again.`
  }
  throw new Error(`no answer after ${MOST_ROUNDS} rounds: none of the options was chosen`)
}

/** Asks questions that are each a single choice, one after the other; a cancellation, whoever's, keeps what was answered before. */
export async function askChoices(
  scene: PermissionScene,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<AskUserQuestionAnswer> {
  const answers: Answer[] = []
  for (const question of questions) {
    try {
      answers.push(await askPermission(scene, question, offerChoice(question), signal))
    } catch (error) {
      const ending = toEnding(error, signal)
      if (!UserQuestionError.isInstance(ending) || ending.code !== 'ASK_CANCELLED') throw ending
      const given = answers.filter(answer => !isSkip(answer))
      throw new UserQuestionError('ASK_CANCELLED', { ...ending.details, answers: given }, { cause: ending })
    }
  }
  return { answers }
}
