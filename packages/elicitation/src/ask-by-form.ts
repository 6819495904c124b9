import {
  describeIssues,
  isSkip,
  UserQuestionError,
  type Answer,
  type AskUserQuestionAnswer,
  type Issue,
  type Question,
} from '@handraise/user-questions/types'
import { z } from 'zod'
import type { Form } from './form.ts'
import { questionFields } from './question-fields.ts'
import { titleOf, type OptionDescriptions } from './question-text.ts'
import { readForm } from './read-form.ts'
import type { TextStyle } from './text-style.ts'
import { toForm } from './to-form.ts'

/** How often a form is shown before its answers are given up. */
export const MOST_ROUNDS = 3

/**
 * What a client answers to `elicitation/create`. The content is looked at only when the form was accepted: what comes
 * with a decline or a cancel is nobody's answer, and no fault either.
 */
export const formReplySchema = z.object({ action: z.string(), content: z.unknown().optional() })

export type FormReply = z.output<typeof formReplySchema>

/**
 * Asks by form: shows it, reads what comes back, and shows it again with the reason when it is no answer, with what may
 * stand still filled in, three times at most. `text` is the style in which the form is written, plain by default.
 *
 * Rejects with `ASK_DECLINED` for the action `decline`; with `ASK_CANCELLED`, and what was answered well in an earlier
 * round, for `cancel`; with what `show` rejects with; and with a plain `Error`, a fault of the client, for another action
 * or when no round brought an answer.
 */
export async function askByForm(
  questions: readonly Question[],
  optionDescriptions: OptionDescriptions,
  show: (form: Form) => Promise<unknown>,
  text?: TextStyle,
): Promise<AskUserQuestionAnswer> {
  let form = toForm(questions, { optionDescriptions, text })
  let kept: readonly Answer[] = []
  for (let round = 1; ; round += 1) {
    const reply = formReplySchema.safeParse(await show(form))
    if (!reply.success) throw new Error('the client did not say what became of the form')
    const { action, content } = reply.data
    if (action === 'decline') throw new UserQuestionError('ASK_DECLINED')
    if (action === 'cancel')
      throw new UserQuestionError('ASK_CANCELLED', { answers: kept.filter(answer => !isSkip(answer)) })
    if (action !== 'accept') throw new Error(`the client answered with the unknown action ${quote(action)}`)
    const reading = readForm(questions, content)
    if (reading.ok) return reading.answer
    if (round === MOST_ROUNDS) {
      throw new Error(`no answer after ${MOST_ROUNDS} rounds: ${describeIssues(reading.issues)}`)
    }
    const notice = `That is no answer yet. ${describeIssues(named(reading.issues, questions))}`
    kept = reading.kept
    form = toForm(questions, { optionDescriptions, notice, prefill: kept, text })
  }
}

// A person knows a field by its title.
function named(issues: readonly Issue[], questions: readonly Question[]): Issue[] {
  const titles = new Map(
    questionFields(questions).flatMap(({ question, name, otherName = name }) => [
      [name, titleOf(question)] as const,
      [otherName, titleOf(question)] as const,
    ]),
  )
  return issues.map(({ path, message }) => {
    const [name = ''] = /^[^[.]*/u.exec(path) ?? []
    return { path: titles.get(name) ?? path, message }
  })
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
