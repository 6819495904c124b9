import { readReply, type Question } from '@handraise/user-questions/types'
import { describe, expect, test } from 'vitest'

const options = [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }]
const ONE: Question = { id: 'one', question: 'Which check?', options }
const SOME: Question = { id: 'some', question: 'Which checks?', options, multiSelect: true, minSelections: 2 }
const answered = [{ id: 'before', selected: ['Yes'] }]

describe('a line that is an answer', () => {
  test('is the answer to its question', () => {
    expect(readReply(ONE, '2')).toEqual({ answer: { id: 'one', selected: ['Types'] } })
    expect(readReply(SOME, 'tests, lint')).toEqual({ answer: { id: 'some', selected: ['Lint', 'Tests'] } })
    expect(readReply(ONE, 'none of them')).toEqual({
      answer: { id: 'one', selected: [], custom: 'none of them' },
    })
  })

  test('is told which rule of the question it breaks', () => {
    expect(readReply(SOME, '1')).toEqual({ say: 'Choose at least 2.' })
    expect(readReply({ ...SOME, minSelections: 0, maxSelections: 1 }, '1 2')).toEqual({
      say: 'Choose at most 1.',
    })
    expect(readReply(SOME, '/skip')).toEqual({ say: 'Choose at least 2.' })
  })

  test('that is blank decides nothing', () => {
    expect(readReply(ONE, ' \n')).toEqual({ say: expect.stringMatching(/^Nothing was typed\. .*\/skip/u) })
  })
})

describe('a command', () => {
  test('skips the question', () => {
    expect(readReply(ONE, '/Skip')).toEqual({ answer: { id: 'one', selected: [] } })
  })

  test('answers with a text, whatever it looks like', () => {
    expect(readReply(ONE, '/text 2')).toEqual({ answer: { id: 'one', selected: [], custom: '2' } })
  })

  test.each([
    ['/dismiss', 'ASK_CANCELLED', { answers: answered }],
    ['/stop', 'ASK_INTERRUPTED', { answers: answered }],
    ['/decline', 'ASK_DECLINED', {}],
    ['/reply which one is faster?', 'ASK_CLARIFIED', { text: 'which one is faster?' }],
  ])('such as %s ends the ask with %s', (line, code, details) => {
    expect(readReply(ONE, line, answered)).toEqual({ end: expect.objectContaining({ code, details }) })
  })

  test('keeps what was answered by then, and nothing that is answered later', () => {
    const answers = [...answered]
    const { end } = readReply(ONE, '/dismiss', answers)
    answers.push({ id: 'later', selected: [] })
    expect(end).toMatchObject({ details: { answers: answered } })
  })

  test('that there is not, or that lacks its text, is told so', () => {
    expect(readReply(ONE, '/help')).toEqual({
      say: expect.stringMatching(/^There is no command \/help\. .*\/dismiss/u),
    })
    for (const name of ['text', 'reply'])
      expect(readReply(ONE, `/${name}  `)).toEqual({ say: `/${name} needs a text behind it.` })
  })

  test('that is a label of the question is the choice of it', () => {
    const question = { ...ONE, options: [{ label: '/skip' }, { label: '/stop' }] }
    expect(readReply(question, '/stop')).toEqual({ answer: { id: 'one', selected: ['/stop'] } })
  })
})
