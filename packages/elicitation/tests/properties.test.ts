import { checkAnswer, visibleText } from '@handraise/user-questions/types'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { questionFields, readForm, toForm, type FormField } from '../src/index.ts'
import { answeredArbitrary, questionsArbitrary } from './arbitrary.ts'
import { fillIn } from './fill-in.ts'

test('whatever may be answered comes back as it was filled in', () => {
  fc.assert(
    fc.property(answeredArbitrary, ({ questions, answers }) => {
      const check = checkAnswer(questions, { answers })
      fc.pre(check.ok)
      const sent = JSON.parse(JSON.stringify(fillIn(questions, answers))) as unknown
      expect(readForm(questions, sent)).toEqual(check)
    }),
    { numRuns: 1_000 },
  )
})

test('whatever comes back, nothing is an answer that the answer rules refuse', () => {
  const content = (names: string[]): fc.Arbitrary<unknown> =>
    fc.oneof(
      fc.anything({ withSparseArray: true, withNullPrototype: true }),
      fc.dictionary(
        fc.oneof(fc.constantFrom(...names), fc.string()),
        fc.oneof(
          fc.anything(),
          fc.constantFrom('Other', 'db', 'Yes, always', ['Yes, always', 'Yes, always']),
        ),
      ),
    )
  const arbitrary = answeredArbitrary.chain(({ questions, answers }) => {
    const names = questionFields(questions).flatMap(({ name, otherName = name }) => [name, otherName])
    const filled = fillIn(questions, answers)
    return fc.record({
      questions: fc.constant(questions),
      content: fc.oneof(
        content(names),
        fc.dictionary(fc.constantFrom(...names), fc.anything()).map(junk => ({ ...filled, ...junk })),
      ),
    })
  })
  fc.assert(
    fc.property(arbitrary, ({ questions, content: sent }) => {
      const reading = readForm(questions, sent)
      if (reading.ok) expect(checkAnswer(questions, reading.answer)).toEqual(reading)
      else expect(reading.issues.length).toBeGreaterThan(0)
    }),
    { numRuns: 1_000 },
  )
})

test('the fields of a form are told apart, and hold every label as it was offered', () => {
  fc.assert(
    fc.property(
      questionsArbitrary,
      fc.constantFrom('native' as const, 'folded' as const),
      (questions, optionDescriptions) => {
        const { requestedSchema, message } = toForm(questions, { optionDescriptions })
        const fields = questionFields(questions)
        const names = fields.flatMap(({ name, otherName }) => [
          name,
          ...(otherName === undefined ? [] : [otherName]),
        ])
        expect(Object.keys(requestedSchema.properties)).toEqual(names)
        expect(message).not.toBe('')
        for (const { question, name, offered } of fields) {
          const field = requestedSchema.properties[name]
          const options =
            field === undefined
              ? []
              : 'oneOf' in field
                ? field.oneOf
                : 'items' in field
                  ? field.items.anyOf
                  : []
          expect(options.map(option => option.const)).toEqual(offered.map(({ label }) => label))
          expect(new Set(options.map(({ title }) => title)).size).toBe(options.length)
          if (question.guarded === true) expect(field).not.toHaveProperty('default')
        }
        for (const text of shownTexts(requestedSchema.properties, message))
          expect(visibleText(text)).toBe(text)
      },
    ),
    { numRuns: 500 },
  )
})

/** Everything in a form that a person reads. */
function shownTexts(properties: Record<string, FormField>, message: string): string[] {
  const optionsOf = (field: FormField) =>
    'oneOf' in field ? field.oneOf : 'items' in field ? field.items.anyOf : []
  return Object.values(properties)
    .flatMap(field => [field, ...optionsOf(field)])
    .flatMap(({ title, description = '' }) => [title, description])
    .concat(message)
}
