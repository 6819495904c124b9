import { foldLabel, type Answer, type Question } from '@handraise/user-questions'
import * as fc from 'fast-check'

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('Yes, always', 'a b', '/go', 'x.'),
)
const spoken = text.filter(each => foldLabel(each) !== '')

/** Labels that a person could tell apart in what they type. */
export const labels = (label: fc.Arbitrary<string> = spoken): fc.Arbitrary<string[]> =>
  fc.uniqueArray(label, { maxLength: 6, selector: foldLabel })

/** A question that may be asked, without bounds on the number of choices. */
export const questions = (of: fc.Arbitrary<string[]> = labels()): fc.Arbitrary<Question> =>
  fc
    .record({
      id: fc.oneof(spoken, fc.constantFrom('__proto__', 'constructor', 'toString')),
      question: spoken,
      labels: of,
      multiSelect: fc.constantFrom(undefined, false, true),
    })
    .map(({ labels: offered, multiSelect, ...question }) => ({
      ...question,
      ...(multiSelect === undefined ? {} : { multiSelect }),
      ...(offered.length === 0 ? {} : { options: offered.map(label => ({ label })) }),
    }))

export interface Exchange {
  readonly questions: readonly Question[]
  /** One valid answer for each question, in any order, with its labels in any order. */
  readonly answers: readonly Answer[]
}

/** A question with an answer that holds by every rule, and perhaps bounds that the answer keeps. */
const exchangeOfOne = questions().chain(question =>
  fc
    .record({
      picked: fc.shuffledSubarray((question.options ?? []).map(({ label }) => label)),
      custom: fc.option(text, { nil: undefined }),
      note: fc.option(text, { nil: undefined }),
      by: fc.constantFrom('user' as const, 'policy' as const, undefined),
      bounded: fc.boolean(),
    })
    .map(({ picked, custom, note, by, bounded }) => {
      const selected = question.multiSelect === true ? picked : picked.slice(0, 1)
      const written = question.multiSelect !== true && selected.length > 0 ? undefined : custom
      const chosen = selected.length + (written === undefined || written.trim() === '' ? 0 : 1)
      const answer: Answer = {
        id: question.id,
        selected,
        ...(written === undefined ? {} : { custom: written }),
        ...(note === undefined ? {} : { note }),
        ...(by === undefined ? {} : { by }),
      }
      const bounds = bounded && chosen > 0 ? { minSelections: chosen, maxSelections: chosen } : {}
      return { question: { ...question, ...bounds }, answer }
    }),
)

/** A batch of questions with an answer that holds. */
export const exchanges: fc.Arbitrary<Exchange> = fc
  .uniqueArray(exchangeOfOne, { minLength: 1, maxLength: 5, selector: ({ question }) => question.id })
  .chain(pairs =>
    fc.shuffledSubarray(pairs, { minLength: pairs.length }).map(shuffled => ({
      questions: pairs.map(({ question }) => question),
      answers: shuffled.map(({ answer }) => answer),
    })),
  )
