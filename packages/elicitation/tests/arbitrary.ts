import { checkQuestions, type Answer, type Question } from '@handraise/user-questions/types'
import fc from 'fast-check'
import { questionFields } from '../src/index.ts'

const awkwardText = fc.oneof(
  fc.string({ minLength: 1, unit: 'grapheme' }),
  fc.string({ minLength: 1, unit: 'binary' }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'db',
    'db__other',
    'question_1',
    'question_2',
    'question_3__other',
    'a.b[0]',
    'Yes, always',
    'Other',
    'Safe\u001b[2K\u202etxt',
    '\ud800',
  ),
)

const optionsArbitrary = fc.uniqueArray(
  fc.record(
    {
      label: awkwardText,
      description: fc.option(awkwardText, { nil: undefined }),
      preview: fc.option(
        fc.record({ format: fc.constantFrom('text', 'markdown', 'html'), content: awkwardText }),
        {
          nil: undefined,
        },
      ),
    },
    { requiredKeys: ['label'] },
  ),
  { maxLength: 5, selector: ({ label }) => label },
)

const questionArbitrary: fc.Arbitrary<Question> = fc
  .record({
    id: awkwardText,
    question: awkwardText,
    header: fc.option(awkwardText, { nil: undefined }),
    detail: fc.option(awkwardText, { nil: undefined }),
    options: optionsArbitrary,
    multiSelect: fc.boolean(),
    minSelections: fc.option(fc.nat(4), { nil: undefined }),
    maxSelections: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    guarded: fc.boolean(),
  })
  .filter(question => checkQuestions([question]).length === 0)

/** Questions that the seam would let through. */
export const questionsArbitrary = fc.uniqueArray(questionArbitrary, {
  minLength: 1,
  maxLength: 4,
  selector: ({ id }) => id,
})

/** Questions, each with something that could be its answer: a choice, words, both, or neither; not all are valid. */
export const answeredArbitrary = questionsArbitrary.chain(questions =>
  fc.record({
    questions: fc.constant(questions),
    answers: fc.tuple(
      ...questionFields(questions).map(({ question, offered }): fc.Arbitrary<Answer> => {
        const labels = fc.subarray(offered.map(({ label }) => label))
        const words = fc.option(awkwardText, { nil: undefined })
        return fc.tuple(labels, words).map(([chosen, custom]) => ({
          id: question.id,
          selected: question.multiSelect === true ? chosen : custom === undefined ? chosen.slice(0, 1) : [],
          ...(custom === undefined ? {} : { custom }),
        }))
      }),
    ),
  }),
)
