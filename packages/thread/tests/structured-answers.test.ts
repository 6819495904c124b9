import { checkAnswer, type Question } from '@handraise/user-questions/types'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readReply, readStructuredAnswers, type ThreadAnswer } from '../src/index.ts'

const LABELS = ['Lint', 'Types', 'Load test', 'Yes, always']

const question = fc.record({
  // Few, so that some read the same.
  question: fc.constantFrom('Which?', 'Which ones?', 'Why?'),
  labels: fc.subarray(LABELS),
  multiSelect: fc.boolean(),
})
const questions = fc.array(question, { minLength: 1, maxLength: 4 }).map(list =>
  list.map(({ question: text, labels, multiSelect }, index): Question => ({
    id: `q${index}`,
    question: text,
    ...(labels.length === 0 ? {} : { options: labels.map(label => ({ label })), multiSelect }),
  })),
)
const text = fc.oneof(
  fc.constantFrom(...LABELS, 'lint', 'LOAD TEST', 'none of these', '', ' '),
  fc.string({ maxLength: 5 }),
)
const loose = fc.array(
  fc.record({
    question: fc.constantFrom('Which?', 'Which ones?', 'Why?', 'Another?'),
    answer: fc.array(text, { maxLength: 3 }),
  }),
  { maxLength: 6 },
)

/** One answer to each question that holds by its rules. */
const fitting = (asked: readonly Question[]): fc.Arbitrary<ThreadAnswer[]> =>
  fc.tuple(
    ...asked.map(({ question: of, options = [], multiSelect }) => {
      const labels = options.map(({ label }) => label)
      const own = fc.constant('something of my own')
      if (labels.length === 0) return own.map(answer => ({ question: of, answer: [answer] }))
      if (multiSelect === true) return fc.subarray(labels).map(answer => ({ question: of, answer }))
      return fc.constantFrom(...labels).map(label => ({ question: of, answer: [label] }))
    }),
  )

describe('structured answers', () => {
  test('that answer each question are taken as they stand, in whatever order they come', () => {
    fc.assert(
      fc.property(
        questions.chain(asked =>
          fitting(asked).chain(entries =>
            fc.tuple(
              fc.constant(asked),
              fc.constant(entries),
              fc.shuffledSubarray(entries, { minLength: entries.length }),
            ),
          ),
        ),
        ([asked, entries, shuffled]) => {
          const read = readStructuredAnswers(asked, { answers: entries })
          expect(read?.complete).toBe(true)
          asked.forEach(({ id }, index) => {
            const { selected = [], custom } = read?.valid.get(id) ?? {}
            expect([...selected, ...(custom === undefined ? [] : [custom])]).toEqual(entries[index]?.answer)
          })
          // Of questions that read the same the order is all there is.
          const texts = new Set(asked.map(each => each.question))
          if (texts.size === asked.length)
            expect(readStructuredAnswers(asked, { answers: shuffled })?.complete).toBe(true)
        },
      ),
    )
  })

  test('are never more, or other, than the rules of the questions allow', () => {
    fc.assert(
      fc.property(questions, loose, (asked, entries) => {
        const read = readStructuredAnswers(asked, { answers: entries })
        const valid = [...(read?.valid.values() ?? [])]
        for (const answer of valid) {
          const of = asked.filter(({ id }) => id === answer.id)
          expect(checkAnswer(of, { answers: [answer] }).ok).toBe(true)
          // Somebody gave it.
          const texts = entries
            .filter(entry => entry.question === of[0]?.question)
            .map(({ answer: given }) => given)
          const said = [...answer.selected, ...(answer.custom === undefined ? [] : [answer.custom])]
          expect(texts.some(given => given.length === said.length)).toBe(true)
        }
        if (read?.complete === true) {
          expect(entries).toHaveLength(asked.length)
          expect(checkAnswer(asked, { answers: valid }).ok).toBe(true)
        }
      }),
    )
  })

  test('that leave one out, or say too much, are refused, and the text is mapped instead', () => {
    fc.assert(
      fc.property(
        questions.chain(asked => fc.tuple(fc.constant(asked), fitting(asked), fc.boolean(), fc.nat())),
        ([asked, entries, more, at]) => {
          const answers = more
            ? [...entries, { ...entries[0]!, answer: ['x'] }]
            : entries.toSpliced(at % entries.length, 1)
          const item = { content: [{ type: 'text', text: 'a text' }], metadata: { answers } }
          const reply = readReply({ kind: 'ask_user_question', questions: asked }, item, 'same')
          const each = asked.map(({ id }) => ({ id, selected: [], custom: 'a text' }))
          expect(reply).toEqual({ reads: 'answers', answers: each })
        },
      ),
    )
  })

  const options = [{ label: 'Lint' }, { label: 'Types' }]
  test.each([
    ['two for a single choice', { options }, ['Lint', 'Types']],
    ['none for a single choice', { options }, []],
    ['a choice and a text for a single choice', { options }, ['Lint', 'mine']],
    ['two texts', { options, multiSelect: true }, ['mine', 'yours']],
    ['a choice twice', { options, multiSelect: true }, ['Lint', 'lint']],
    ['a blank text', { options, multiSelect: true }, [' ']],
    ['no free text', {}, []],
    ['two free texts', {}, ['a', 'b']],
    ['too few choices', { options, multiSelect: true, minSelections: 2 }, ['Lint']],
  ])('refuse %s', (_, more, answer) => {
    const asked = [{ id: 'q', question: 'Which?', ...more }]
    const read = readStructuredAnswers(asked, { answers: [{ question: 'Which?', answer }] })
    expect([read?.complete, read?.valid.size]).toEqual([false, 0])
  })

  test.each([
    ['no choice where several could be made', [], { selected: [] }],
    ['a label in another case', ['TYPES'], { selected: ['Types'] }],
    ['a text beside choices', ['Types', 'mine'], { selected: ['Types'], custom: 'mine' }],
  ])('take %s', (_, answer, value) => {
    const asked = [{ id: 'q', question: 'Which?', options, multiSelect: true }]
    const read = readStructuredAnswers(asked, { answers: [{ question: 'Which?', answer }] })
    expect(read?.valid.get('q')).toEqual({ id: 'q', ...value })
  })

  test('to an approval allow by the label Approve alone', () => {
    const asked = {
      kind: 'approval' as const,
      questions: [{ id: 'a', question: 'Push?', options: [{ label: 'Approve' }, { label: 'Deny' }] }],
    }
    const read = (...answer: string[]) =>
      readReply(asked, { content: [], metadata: { answers: [{ question: 'Push?', answer }] } }, 'same')
    expect(read('Approve')).toEqual({ reads: 'approval', approval: { allowed: true } })
    expect(read('approve')).toEqual({ reads: 'approval', approval: { allowed: true } })
    expect(read('Deny')).toEqual({ reads: 'approval', approval: { allowed: false } })
    expect(read('yes')).toEqual({ reads: 'approval', approval: { allowed: false, words: 'yes' } })
    expect(read('Approve', 'Deny')).toEqual({ reads: 'nothing', why: 'empty' })
  })
})
