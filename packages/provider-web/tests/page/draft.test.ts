import { checkAnswer, isOtherLabel, type Question } from '@handraise/user-questions/types'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  answersOf,
  changeQuestion,
  choose,
  chooseOwn,
  draftOf,
  emptyDraft,
  faultOf,
  givenOf,
  isRequestDraft,
  textOf,
  write,
  type RequestDraft,
} from '../../page/src/draft.ts'

const label = fc.constantFrom(
  'A',
  'B, or C',
  'Other',
  'other (please specify)',
  'D (Recommended)',
  '__proto__',
  'ל',
)
const questionOf = (id: string) =>
  fc
    .record({
      labels: fc.uniqueArray(label, { maxLength: 5 }),
      multiSelect: fc.boolean(),
      least: fc.option(fc.nat(3), { nil: undefined }),
      most: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    })
    .map(({ labels, multiSelect, least, most }): Question => {
      const limit = multiSelect ? labels.length + 1 : 1
      const max = most === undefined ? undefined : Math.min(most, limit)
      const min = least === undefined ? undefined : Math.min(least, max ?? limit)
      return {
        id,
        question: 'Which?',
        ...(labels.length === 0 ? {} : { options: labels.map(each => ({ label: each })) }),
        ...(multiSelect ? { multiSelect } : {}),
        ...(min === undefined ? {} : { minSelections: min }),
        ...(max === undefined ? {} : { maxSelections: max }),
      }
    })
const questions = fc
  .uniqueArray(fc.constantFrom('a', 'b', '__proto__', 'constructor'), { minLength: 1, maxLength: 3 })
  .chain(ids => fc.tuple(...ids.map(questionOf)))

const deed = fc.record({
  question: fc.nat(2),
  what: fc.constantFrom('choose', 'own', 'write', 'note', 'skip', 'reload'),
  option: fc.nat(4),
  text: fc.constantFrom('', '  ', 'x', 'A', 'longer text\nof two lines'),
})

function act(
  draft: RequestDraft,
  asked: readonly Question[],
  { question, what, option, text }: typeof deed extends fc.Arbitrary<infer T> ? T : never,
): RequestDraft {
  const on = asked[question % asked.length]!
  const { options = [] } = on
  switch (what) {
    case 'choose':
      return options.length === 0 ? draft : choose(draft, on, options[option % options.length]!.label)
    case 'own':
      return chooseOwn(draft, on)
    case 'write':
      return write(draft, on, text)
    case 'note':
      return changeQuestion(draft, on, { note: text })
    case 'skip':
      return changeQuestion(draft, on, { skipped: true })
    case 'reload':
      return JSON.parse(JSON.stringify(draft)) as RequestDraft
  }
}

const history = fc.record({ asked: questions, deeds: fc.array(deed, { maxLength: 12 }) })
const after = (asked: readonly Question[], deeds: ReadonlyArray<Parameters<typeof act>[2]>): RequestDraft =>
  deeds.reduce((draft, each) => act(draft, asked, each), emptyDraft)

test('whatever is done to a draft, its answer holds by the rules, or the draft names the rule it breaks', () => {
  fc.assert(
    fc.property(history, ({ asked, deeds }) => {
      const draft = after(asked, deeds)
      const faults = asked.filter(question => faultOf(question, draftOf(draft, question)) !== undefined)
      const check = checkAnswer(asked, { answers: answersOf(asked, draft) })
      expect(check.ok).toBe(faults.length === 0)
    }),
    { numRuns: 1_000 },
  )
})

test('whatever is done to a draft, what accompanies an early ending holds by the rules as well', () => {
  fc.assert(
    fc.property(history, ({ asked, deeds }) => {
      const draft = after(asked, deeds)
      const given = givenOf(asked, draft)
      const broken = new Set(
        asked
          .filter(question => faultOf(question, draftOf(draft, question)) !== undefined)
          .map(({ id }) => id),
      )
      const answered = asked.filter(({ id }) => given.some(answer => answer.id === id) && !broken.has(id))
      const check = checkAnswer(answered, { answers: given.filter(({ id }) => !broken.has(id)) })
      expect(check.ok).toBe(true)
    }),
  )
})

test('whatever else is done, the last text that was written for a question is there', () => {
  fc.assert(
    fc.property(history, ({ asked, deeds }) => {
      const draft = after(asked, deeds)
      asked.forEach((question, index) => {
        const written = deeds.findLast(
          ({ what, question: on }) => what === 'write' && on % asked.length === index,
        )
        expect(draftOf(draft, question).text).toBe(written?.text ?? '')
        if (written !== undefined && written.text.trim() !== '')
          expect(textOf(asked, draft)).toContain(written.text)
      })
    }),
  )
})

test('a draft that was kept is read as one, and its answer is the same', () => {
  fc.assert(
    fc.property(history, ({ asked, deeds }) => {
      const draft = after(asked, deeds)
      const kept: unknown = JSON.parse(JSON.stringify(draft))
      expect(isRequestDraft(kept)).toBe(true)
      expect(answersOf(asked, kept as RequestDraft)).toEqual(answersOf(asked, draft))
    }),
  )
})

test('what was kept by something else is no draft, and nothing throws', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      if (!isRequestDraft(value)) return
      expect(Array.isArray(answersOf([{ id: 'a', question: 'Which?' }], value))).toBe(true)
    }),
  )
})

test('the label Other is never an answer of its own beside the free-text row', () => {
  fc.assert(
    fc.property(history, ({ asked, deeds }) => {
      const onlyShown = deeds.filter(({ what, question, option }) => {
        const { options = [] } = asked[question % asked.length]!
        return what !== 'choose' || !isOtherLabel(options[option % options.length]?.label ?? '')
      })
      const selected = answersOf(asked, after(asked, onlyShown)).flatMap(answer => answer.selected)
      expect(selected).not.toContain('Other')
    }),
  )
})
