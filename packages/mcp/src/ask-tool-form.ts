import { MOST_ROUNDS, readForm, toForm, withoutDefaults } from '@handraise/elicitation'
import {
  answerSchema,
  describeIssues,
  isSkip,
  UserQuestionError,
  type Answer,
  type AskUserQuestionAnswer,
  type Question,
} from '@handraise/user-questions/types'
import type { ClientCapabilities } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { notShown } from './ask-tool-result.ts'
import { formAsksForSecret } from './form-secret.ts'
import { acceptedContent, answeredBy, type InputResponses } from './pause/accepted-content.ts'
import { inputRequiredBy, type InputRequired } from './pause/input-required.ts'
import { PauseError } from './pause/pause-error.ts'

/** Another one each time: what is asked under the same id and in the same words counts as answered. */
const formOf = ({ round }: PausedAsk): string => (round === 1 ? 'answers' : `answers_${round}`)

/** What a client of 2026-07-28 carries while its person answers. */
const pausedAskSchema = z.object({
  /** The id of the request. */
  request: z.string(),
  /** When it was sent, in milliseconds since the Unix epoch. */
  sentAt: z.number(),
  /** What names the form that was sent, if it was sent by a version that names them. */
  sending: z.string().optional(),
  /** Its id was told, or its call has one of its own: whoever has it can come back for it without this. */
  told: z.boolean().default(true),
  round: z.int(),
  /** What was answered well in an earlier round. */
  kept: z.array(answerSchema),
})

export interface PausedAsk extends Omit<z.infer<typeof pausedAskSchema>, 'kept'> {
  readonly kept: readonly Answer[]
}

/** The pause that a call goes on with; nothing for a call that begins. */
export function readPausedAsk(requestState: unknown): PausedAsk | undefined {
  return pausedAskSchema.safeParse(requestState).data
}

/** True of a client that can show a form. Without any mode it means forms: what elicitation was before there were modes. */
export function canShowForms(capabilities: ClientCapabilities | undefined): boolean {
  const declared = capabilities?.elicitation
  return declared !== undefined && (declared.form !== undefined || declared.url === undefined)
}

/** True of a client that fills in what its person left out. */
export function fillsIn(capabilities: ClientCapabilities | undefined): boolean {
  return capabilities?.elicitation?.form?.applyDefaults ?? false
}

export interface FormToSend {
  readonly questions: readonly Question[]
  readonly paused: PausedAsk
  /** Sends the fields empty, to a client that would fill them in by itself. */
  readonly empty: boolean
  /** Stands above the form, such as why it is shown again. */
  readonly notice?: string | undefined
}

/** The form as a result of the call; nothing when it may not be asked by a form, as a secret may not. */
export function pauseForForm({ questions, paused, empty, notice }: FormToSend): InputRequired | undefined {
  if (formAsksForSecret(questions)) return undefined
  const prefill = paused.kept.length === 0 ? {} : { prefill: paused.kept }
  const form = toForm(questions, { optionDescriptions: 'folded', notice, ...prefill })
  const { message, requestedSchema } = empty ? withoutDefaults(form) : form
  try {
    const requests = [{ id: formOf(paused), message, schema: requestedSchema }]
    // The questions were looked at; beside a choice about secrets a field of its own words asks for none.
    return inputRequiredBy({ requests, requestState: paused }, () => false)
  } catch (error) {
    if (PauseError.isInstance(error)) return undefined
    throw error
  }
}

/** What came back with a pause. */
export type FormReturn =
  | { readonly kind: 'answered'; readonly answer: AskUserQuestionAnswer }
  /** Decided in another way, or shown to nobody. */
  | { readonly kind: 'ended'; readonly error: UserQuestionError }
  /** No answer yet: why, and what of it may stand. */
  | { readonly kind: 'again'; readonly notice: string; readonly kept: readonly Answer[] }

export interface ReturnedForm {
  readonly questions: readonly Question[]
  readonly paused: PausedAsk
  readonly responses: InputResponses
  /** It came back faster than a person can reply. */
  readonly isTooFast: boolean
  /** The client's declines are never a person's. */
  readonly neverDeclines: boolean
}

export function readReturn(form: ReturnedForm): FormReturn {
  const { questions, paused, responses } = form
  const action = answeredBy(responses, formOf(paused))
  const isAutomatic = form.isTooFast || (action === 'decline' && form.neverDeclines)
  if (action !== undefined && isAutomatic) {
    return { kind: 'ended', error: notShown('the client replied by itself and showed nobody the question') }
  }
  if (action === 'decline') return { kind: 'ended', error: new UserQuestionError('ASK_DECLINED') }
  if (action === 'cancel') {
    const answers = paused.kept.filter(answer => !isSkip(answer))
    return { kind: 'ended', error: new UserQuestionError('ASK_CANCELLED', { answers }) }
  }
  const reading = readForm(questions, acceptedContent(responses, formOf(paused)))
  if (reading.ok) return { kind: 'answered', answer: reading.answer }
  if (paused.round >= MOST_ROUNDS) {
    const why = `no answer after ${MOST_ROUNDS} rounds: ${describeIssues(reading.issues)}`
    return { kind: 'ended', error: notShown(why) }
  }
  return {
    kind: 'again',
    notice: `That is no answer yet. ${describeIssues(reading.issues)}`,
    kept: reading.kept,
  }
}
