import {
  checkAnswer,
  foldLabel,
  readTextReply,
  type AnswerValue,
  type Question,
} from '@handraise/user-questions'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { labels, questions } from './generated-questions.ts'

const DB: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
const CHECKS: Question = {
  id: 'checks',
  question: 'Which checks?',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types, strict' }, { label: 'Tests' }],
}
const NAME: Question = { id: 'name', question: 'What is it called?' }

const valueOf = (question: Question, line: string): AnswerValue => {
  const reply = readTextReply(question, line)
  if (reply.kind !== 'answer') return expect.fail(`${JSON.stringify(line)} is ${reply.kind}`)
  return reply.value
}

/** Labels that are plain words, so that no number and no other label reads as one of them. */
const words = labels(fc.stringMatching(/^[a-z]{1,8}( [a-z]{1,8})?$/u))
const lines = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('1', '2', '3', '0', ',', ' ', '.', 'a', 'Yes, always', '/', '\n') }),
)

describe('any line', () => {
  test('reads as nothing, a command, or an answer that holds', () => {
    fc.assert(
      fc.property(questions(), lines, (question, line) => {
        const reply = readTextReply(question, line)
        expect(reply.kind === 'blank').toBe(line.trim() === '')
        expect(reply.kind !== 'command' || line.trim().startsWith('/')).toBe(true)
        const answer = { id: question.id, ...(reply.kind === 'answer' ? reply.value : { selected: [] }) }
        expect(checkAnswer([question], { answers: [answer] })).toEqual({
          ok: true,
          answer: { answers: [answer] },
        })
      }),
      { numRuns: 1000 },
    )
  })

  test('that says something is never read as a skip', () => {
    fc.assert(
      fc.property(questions(), lines, (question, line) => {
        const reply = readTextReply(question, line)
        fc.pre(reply.kind === 'answer')
        expect(reply.value.selected.length > 0 || reply.value.custom === line).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test('that neither numbers nor names an option is custom text, word for word', () => {
    fc.assert(
      fc.property(questions(words), lines, (question, line) => {
        const offered = question.options?.map(({ label }) => label) ?? []
        const parts = line.split(/[\s,]+/u)
        fc.pre(line.trim() !== '' && !line.trim().startsWith('/'))
        fc.pre(
          !parts.some(
            part =>
              /^[0-9]+$/u.test(part) ||
              offered.some(label => label.includes(part.toLowerCase()) && part !== ''),
          ),
        )
        fc.pre(!offered.some(label => foldLabel(line).includes(label)))
        expect(valueOf(question, line)).toEqual({ selected: [], custom: line })
      }),
    )
  })
})

describe('a number', () => {
  test('is the option at that place', () => {
    fc.assert(
      fc.property(
        questions(words),
        fc.nat({ max: 8 }),
        fc.constantFrom('', ' ', '\t'),
        (question, number, space) => {
          const label = number === 0 ? undefined : question.options?.[number - 1]?.label
          const line = `${space}${number}${space}`
          expect(valueOf(question, line)).toEqual(
            label === undefined ? { selected: [], custom: line } : { selected: [label] },
          )
        },
      ),
    )
  })

  test('is custom text where nothing is offered', () => {
    expect(valueOf(NAME, '2')).toEqual({ selected: [], custom: '2' })
  })

  test('is the label that reads the same before it is a place', () => {
    const question = { ...DB, options: ['3', '2', '1'].map(label => ({ label })) }
    expect(valueOf(question, '1')).toEqual({ selected: ['1'] })
    expect(valueOf(question, '2')).toEqual({ selected: ['2'] })
    expect(valueOf({ ...question, multiSelect: true }, '3')).toEqual({ selected: ['3'] })
  })

  test('with a sign, a fraction or other digits is custom text', () => {
    for (const line of ['-1', '+1', '1.5', '1e0', '0x1', '0', '99999999999999999999', '\uff11', '1 2']) {
      expect(valueOf(DB, line)).toEqual({ selected: [], custom: line })
    }
  })
})

describe('a label', () => {
  test('is itself when the whole line equals it', () => {
    fc.assert(
      fc.property(questions(), question => {
        for (const { label } of question.options ?? [])
          expect(valueOf(question, label)).toEqual({ selected: [label] })
      }),
    )
  })

  test('is meant in any case and with space around it', () => {
    const either = fc.stringMatching(/^[a-zé選択]{1,8}$/u)
    fc.assert(
      fc.property(
        questions(labels(either)),
        fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        (question, upper) => {
          for (const { label } of question.options ?? []) {
            const line = Array.from(label)
              .map((letter, index) => (upper[index] === true ? letter.toUpperCase() : letter))
              .join('')
            expect(valueOf(question, ` ${line} `)).toEqual({ selected: [label] })
          }
        },
      ),
    )
  })

  test('is meant without its end punctuation and its recommendation', () => {
    const question = {
      ...DB,
      options: [{ label: 'Go on?' }, { label: 'Stop (Recommended)' }, { label: '停（推荐）' }],
    }
    for (const [line, label] of [
      ['go on', 'Go on?'],
      ['Go on!', 'Go on?'],
      ['stop', 'Stop (Recommended)'],
      ['STOP.', 'Stop (Recommended)'],
      ['stop (recommended)', 'Stop (Recommended)'],
      ['停。', '停（推荐）'],
    ] as const) {
      expect(valueOf(question, line)).toEqual({ selected: [label] })
    }
  })

  test('is not guessed where two would read the same', () => {
    const question = { ...DB, options: [{ label: 'Go!' }, { label: 'Go?' }] }
    expect(valueOf(question, 'go')).toEqual({ selected: [], custom: 'go' })
    expect(valueOf(question, 'go?')).toEqual({ selected: ['Go?'] })
  })

  test('that starts with a slash is a label before it is a command', () => {
    const question = { ...DB, options: [{ label: '/usr' }, { label: '/tmp' }] }
    expect(valueOf(question, '/TMP')).toEqual({ selected: ['/tmp'] })
    expect(readTextReply(question, '/var').kind).toBe('command')
  })

  test('with codes that reorder text is meant by its original', () => {
    const label = 'safe\u202etxt.exe'
    expect(valueOf({ ...DB, options: [{ label }] }, label)).toEqual({ selected: [label] })
  })

  test('of only punctuation is still a label', () => {
    const question = { ...DB, options: [{ label: '!' }, { label: '?' }] }
    expect(valueOf(question, '?')).toEqual({ selected: ['?'] })
  })
})

describe('several choices', () => {
  test('are numbers apart by commas or spaces, in the order offered', () => {
    for (const line of ['1,3', '3 1', ' 3, 1 ', '1,,3', '3,1,3,']) {
      expect(valueOf(CHECKS, line)).toEqual({ selected: ['Lint', 'Tests'] })
    }
  })

  test('are labels apart by commas, mixed with numbers', () => {
    expect(valueOf(CHECKS, 'tests, lint')).toEqual({ selected: ['Lint', 'Tests'] })
    expect(valueOf(CHECKS, 'Tests, 1')).toEqual({ selected: ['Lint', 'Tests'] })
  })

  test('are one label when the whole line is one', () => {
    expect(valueOf(CHECKS, 'types, strict')).toEqual({ selected: ['Types, strict'] })
  })

  test('are all custom text when one of them is unknown', () => {
    for (const line of ['1,9', '1 and 3', 'lint, style', 'Lint, also docs', ',', ', ,']) {
      expect(valueOf(CHECKS, line)).toEqual({ selected: [], custom: line })
    }
  })

  test('are custom text where only one may be chosen', () => {
    expect(valueOf(DB, '1,2')).toEqual({ selected: [], custom: '1,2' })
    expect(valueOf(DB, 'Postgres, SQLite')).toEqual({ selected: [], custom: 'Postgres, SQLite' })
  })
})

describe('a reply in a thread', () => {
  test('is read as people mean it', () => {
    expect(valueOf(DB, '2')).toEqual({ selected: ['SQLite'] })
    expect(valueOf(DB, 'postgres')).toEqual({ selected: ['Postgres'] })
    expect(valueOf(DB, 'POSTGRES.')).toEqual({ selected: ['Postgres'] })
    expect(valueOf(DB, 'the small one')).toEqual({ selected: [], custom: 'the small one' })
    expect(readTextReply(DB, '/stop')).toEqual({ kind: 'command', name: 'stop', rest: '' })
  })

  test('of nothing is blank', () => {
    for (const line of ['', ' ', '\n\t']) expect(readTextReply(DB, line)).toEqual({ kind: 'blank' })
  })

  test('with a command keeps what follows it', () => {
    expect(readTextReply(NAME, ' /Skip  this one\nplease ')).toEqual({
      kind: 'command',
      name: 'skip',
      rest: 'this one\nplease',
    })
    expect(readTextReply(NAME, '/')).toEqual({ kind: 'command', name: '', rest: '' })
  })
})

test('labels of a multi-select parted by spaces are those options', () => {
  const question = {
    id: 'f',
    question: 'Which?',
    multiSelect: true,
    options: [{ label: 'Lint' }, { label: 'Tests' }],
  }
  expect(readTextReply(question, 'tests lint')).toEqual({
    kind: 'answer',
    value: { selected: ['Lint', 'Tests'] },
  })
  expect(readTextReply(question, 'tests please')).toEqual({
    kind: 'answer',
    value: { selected: [], custom: 'tests please' },
  })
})
