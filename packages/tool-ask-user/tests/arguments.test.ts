import { ADVISED, ALLOWED, parseAskUserArguments } from '@handraise/tool-ask-user'
import { describe, expect, test } from 'vitest'
import { openHost, skipAll } from './host.ts'

const EXAMPLE =
  'send for example {"questions":[{"id":"db","question":"Which database?","options":[{"label":"SQLite (Recommended)"},{"label":"Postgres"}]}]}'

const STORE = { id: 'db', question: 'Which store?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] }

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** Each with the one reading it has. */
const READINGS: ReadonlyArray<readonly [what: string, sent: unknown, read: unknown]> = [
  ['what the schema says', { questions: [STORE] }, [STORE]],
  ['the whole as a JSON string', JSON.stringify({ questions: [STORE] }), [STORE]],
  ['the questions as a JSON string', { questions: JSON.stringify([STORE]) }, [STORE]],
  [
    'options as plain strings, all in one JSON string',
    { questions: '[{"id":"db","question":"Which store?","options":["Postgres","SQLite"]}]' },
    [STORE],
  ],
  [
    'only the options as a JSON string',
    { questions: [{ ...STORE, options: '["Postgres","SQLite"]' }] },
    [STORE],
  ],
  ['each question as a JSON string', { questions: [JSON.stringify(STORE)] }, [STORE]],
  ['one question instead of a list', { questions: STORE }, [STORE]],
  ['one question as a JSON string instead of a list', { questions: JSON.stringify(STORE) }, [STORE]],
  ['a list alone', [STORE], [STORE]],
  ['one question alone', STORE, [STORE]],
  ['a question that is only text', { questions: ['Go on?'] }, [{ id: 'q1', question: 'Go on?' }]],
  [
    'one option instead of a list',
    { questions: [{ ...STORE, options: { label: 'Yes' } }] },
    [{ ...STORE, options: [{ label: 'Yes' }] }],
  ],
  [
    'null for absent fields',
    {
      questions: [
        {
          id: null,
          question: 'Go?',
          header: null,
          options: [{ label: 'Yes', description: null }],
          multi_select: null,
        },
      ],
    },
    [{ id: 'q1', question: 'Go?', options: [{ label: 'Yes' }] }],
  ],
  [
    'null for the options',
    { questions: [{ ...STORE, options: null }] },
    [{ id: 'db', question: 'Which store?' }],
  ],
  [
    'other spellings of multi_select',
    {
      questions: [
        { id: 'a', question: 'A?', multiSelect: true },
        { id: 'b', question: 'B?', multiple: false },
        { id: 'c', question: 'C?', multi_select: 'true' },
        { id: 'd', question: 'D?', multiSelect: 'false' },
      ],
    },
    [
      { id: 'a', question: 'A?', multi_select: true },
      { id: 'b', question: 'B?', multi_select: false },
      { id: 'c', question: 'C?', multi_select: true },
      { id: 'd', question: 'D?', multi_select: false },
    ],
  ],
  [
    'missing ids',
    { questions: [{ question: 'A?' }, { question: 'B?' }] },
    [
      { id: 'q1', question: 'A?' },
      { id: 'q2', question: 'B?' },
    ],
  ],
  [
    'missing ids beside one that is taken',
    { questions: [{ question: 'A?' }, { id: 'q1', question: 'B?' }, { id: '', question: 'C?' }] },
    [
      { id: 'q2', question: 'A?' },
      { id: 'q1', question: 'B?' },
      { id: 'q3', question: 'C?' },
    ],
  ],
  ['a number as an id', { questions: [{ id: 7, question: 'A?' }] }, [{ id: '7', question: 'A?' }]],
  [
    'fields that are not the model’s to set',
    {
      questions: [
        {
          ...STORE,
          detail: 'x',
          intent: { kind: 'plan-review', approve: 'No' },
          default: 'SQLite',
          minSelections: 9,
          guarded: 1,
        },
      ],
      timeoutMs: 5,
    },
    [STORE],
  ],
  [
    'texts that look like numbers, lists or nothing',
    { questions: [{ id: 'a', question: 'null', options: ['1', '2', 'true', '[x'] }] },
    [{ id: 'a', question: 'null', options: ['1', '2', 'true', '[x'].map(label => ({ label })) }],
  ],
  [
    'the same header and text under different ids',
    {
      questions: [
        { ...STORE, header: 'Store' },
        { ...STORE, header: 'Store', id: '__proto__' },
      ],
    },
    [
      { ...STORE, header: 'Store' },
      { ...STORE, header: 'Store', id: '__proto__' },
    ],
  ],
  [
    'texts with space around them',
    { questions: [{ id: ' a ', question: ' A? ', options: [' x '] }] },
    [{ id: ' a ', question: ' A? ', options: [{ label: ' x ' }] }],
  ],
  [
    'a header that is too long',
    { questions: [{ ...STORE, header: 'Module & repo' }] },
    [{ ...STORE, header: 'Module & repo' }],
  ],
]

describe('arguments are accepted', () => {
  for (const [what, sent, questions] of READINGS) {
    test(`with ${what}`, () => {
      expect(parseAskUserArguments(sent)).toEqual({ ok: true, args: { questions } })
    })
  }

  test('with more than is advised, up to what is allowed', () => {
    expect(ADVISED).toEqual({ questions: 4, options: 4 })
    expect(ALLOWED).toEqual({ questions: 16, options: 32 })
    const options = (count: number) => many(count, index => ({ label: `Option ${index}` }))
    const sent = [
      [{ ...STORE, options: options(1) }],
      [{ ...STORE, options: options(5) }],
      [{ ...STORE, options: options(32) }],
      many(6, index => ({ ...STORE, id: `${index}` })),
      many(16, index => ({ ...STORE, id: `${index}` })),
    ]
    for (const questions of sent)
      expect(parseAskUserArguments({ questions })).toEqual({ ok: true, args: { questions } })
  })

  test('with the same reading when read once more', () => {
    for (const [, sent] of READINGS) {
      const once = parseAskUserArguments(sent)
      expect(parseAskUserArguments(once.ok ? once.args : undefined)).toEqual(once)
    }
  })
})

/** Each with every fault in it. */
const FAULTS: ReadonlyArray<readonly [what: string, sent: unknown, faults: readonly string[]]> = [
  ['nothing', undefined, ['expected an object, got nothing']],
  ['null', null, ['expected an object, got null']],
  ['a number', 7, ['expected an object, got a number']],
  ['a text', 'Which store?', ['expected an object, got a string']],
  ['JSON that is broken', '{"questions":', ['expected an object, got a string that is not JSON']],
  ['no questions', {}, ['questions: expected an array, got nothing']],
  [
    'questions that are a text',
    { questions: 'Which store?' },
    ['questions: expected an array, got a string'],
  ],
  ['questions that are null', { questions: null }, ['questions: expected an array, got null']],
  [
    'questions in single quotes',
    { questions: "[{'id': 'a'}]" },
    ['questions: expected an array, got a string that is not JSON'],
  ],
  [
    'options in single quotes',
    { questions: [{ ...STORE, options: "[{'label': 'A'}]" }] },
    ['questions[0].options: expected an array, got a string that is not JSON'],
  ],
  [
    'options that are a text',
    { questions: [{ ...STORE, options: 'A or B' }] },
    ['questions[0].options: expected an array, got a string'],
  ],
  [
    'a blank question and a label of the wrong type',
    {
      questions: [
        { id: 'a', question: '' },
        { id: 'b', question: 'Ok?', options: [{ label: 7 }] },
      ],
    },
    [
      'questions[1].options[0].label: expected a string, got a number',
      'questions[0].question: must not be blank',
    ],
  ],
  [
    'a missing question',
    { questions: [{ id: 'a' }] },
    ['questions[0].question: expected a string, got nothing'],
  ],
  [
    'an entry that is no question',
    { questions: [7, []] },
    ['questions[0]: expected an object, got a number', 'questions[1]: expected an object, got an array'],
  ],
  [
    'an id twice',
    {
      questions: [
        { ...STORE, id: 'x' },
        { ...STORE, id: 'x' },
      ],
    },
    ['questions[1].id: "x" is used twice'],
  ],
  [
    'an id twice, once as a number',
    {
      questions: [
        { ...STORE, id: 7 },
        { ...STORE, id: '7' },
      ],
    },
    ['questions[1].id: "7" is used twice'],
  ],
  ['a blank id', { questions: [{ ...STORE, id: ' ' }] }, ['questions[0].id: must not be blank']],
  [
    'the same label twice',
    { questions: [{ ...STORE, options: ['Yes', 'Yes'] }] },
    ['questions[0].options[1].label: "Yes" cannot be told apart from "Yes"; give each option its own label'],
  ],
  [
    'labels that differ in case and space alone',
    { questions: [{ ...STORE, options: ['Yes', 'yes '] }] },
    ['questions[0].options[1].label: "yes " cannot be told apart from "Yes"; give each option its own label'],
  ],
  [
    'a blank label',
    { questions: [{ ...STORE, options: ['', 'A'] }] },
    ['questions[0].options[0].label: must not be blank'],
  ],
  [
    'an option without a label',
    { questions: [{ ...STORE, options: [{ value: 'A' }] }] },
    ['questions[0].options[0].label: expected a string, got nothing'],
  ],
  [
    'a choice of several that is no boolean',
    { questions: [{ ...STORE, multi_select: 'maybe' }] },
    ['questions[0].multi_select: expected a boolean, got a string'],
  ],
  [
    'a header that is no text',
    { questions: [{ ...STORE, header: 7 }] },
    ['questions[0].header: expected a string, got a number'],
  ],
  [
    'more options than are allowed',
    { questions: [{ ...STORE, options: many(33, index => `Option ${index}`) }] },
    ['questions[0].options: 33 options are more than the 32 allowed; send at most 4'],
  ],
  [
    'more questions than are allowed',
    { questions: many(17, index => ({ ...STORE, id: `${index}` })) },
    ['questions: 17 questions are more than the 16 allowed; send at most 4'],
  ],
]

describe('arguments are refused, every fault named,', () => {
  for (const [what, sent, faults] of FAULTS) {
    test(`with ${what}`, async () => {
      expect(parseAskUserArguments(sent)).toEqual({ ok: false, faults: [...faults, EXAMPLE] })
      const { call, asked } = await openHost(skipAll)
      const message = `invalid arguments for ask_user_question: ${[...faults, EXAMPLE].join('; ')}`
      expect(await call(sent)).toEqual({
        isError: true,
        error: { name: 'ToolError', code: 'INVALID_ARGS', message },
        content: `Error: ${message}`,
      })
      expect(asked).toEqual([])
    })
  }
})
