import type { Question } from '@handraise/user-questions/types'
import { describe, expect, test } from 'vitest'
import { toForm } from '../src/index.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  header: 'Store',
  options: [{ label: 'Postgres', description: 'A server.' }, { label: 'SQLite (Recommended)' }],
}
const CHECKS: Question = {
  id: 'checks',
  question: 'Which checks?',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}
const NAME: Question = { id: 'name', question: 'What is it called?' }

const fieldsOf = (questions: readonly Question[], optionDescriptions: 'native' | 'folded' = 'folded') =>
  toForm(questions, { optionDescriptions }).requestedSchema.properties

describe('one question', () => {
  test('is the message, and its choice a titled select with a field for words beside it', () => {
    expect(toForm([{ ...STORE, detail: 'It must be *fast*.' }], { optionDescriptions: 'folded' })).toEqual({
      message: 'Which store?\n\nIt must be *fast*.',
      requestedSchema: {
        type: 'object',
        properties: {
          db: {
            type: 'string',
            title: 'Store',
            oneOf: [
              { const: 'Postgres', title: 'Postgres — A server.' },
              { const: 'SQLite (Recommended)', title: 'SQLite (Recommended)' },
            ],
          },
          db__other: {
            type: 'string',
            title: 'Store: your own answer',
            description: 'Instead of choosing above.',
          },
        },
      },
    })
  })

  test('of several answers is a list, bounded so that words may count as one', () => {
    const fields = fieldsOf([{ ...CHECKS, minSelections: 2, maxSelections: 3 }])
    expect(fields).toEqual({
      checks: {
        type: 'array',
        title: 'Which checks?',
        description: 'Choose at least 2 and at most 3; your own words below count as one.',
        items: { anyOf: ['Lint', 'Types', 'Tests'].map(label => ({ const: label, title: label })) },
        minItems: 1,
        maxItems: 3,
      },
      checks__other: {
        type: 'string',
        title: 'Which checks?: something else',
        description: 'Added to what is chosen above.',
      },
    })
  })

  test('without options is a text, required where it must be answered', () => {
    const optional = toForm([NAME], { optionDescriptions: 'folded' }).requestedSchema
    expect(optional).toEqual({
      type: 'object',
      properties: { name: { type: 'string', title: 'What is it called?' } },
    })
    const needed = toForm([{ ...NAME, minSelections: 1 }], { optionDescriptions: 'folded' }).requestedSchema
    expect(needed).toMatchObject({ properties: { name: { minLength: 1 } }, required: ['name'] })
  })

  test('that must be answered still lets the person use words instead of a choice', () => {
    const { requestedSchema } = toForm([{ ...STORE, minSelections: 1 }], { optionDescriptions: 'folded' })
    expect(requestedSchema.required).toBeUndefined()
    expect(requestedSchema.properties.db?.description).toBe('Choose one, or write your own answer below.')
  })
})

describe('several questions', () => {
  test('are listed in the message, and each is explained at its own field', () => {
    const { message, requestedSchema } = toForm([{ ...STORE, detail: 'It must be fast.' }, NAME], {
      optionDescriptions: 'folded',
    })
    expect(message).toBe('1. Which store?\n2. What is it called?')
    expect(Object.keys(requestedSchema.properties)).toEqual(['db', 'db__other', 'name'])
    expect(requestedSchema.properties.db?.description).toBe('Which store?\n\nIt must be fast.')
    expect(requestedSchema.properties.name).toEqual({ type: 'string', title: 'What is it called?' })
  })

  test('of any ids have properties that are plain words, each its own', () => {
    const ids = ['db', '__proto__', 'db__other', 'question_4', 'toString', 'a b', 'x'.repeat(65), 'ok-1_b']
    expect(Object.keys(fieldsOf(ids.map(id => ({ ...NAME, id }))))).toEqual([
      'db',
      'question_2',
      'question_3',
      'question_4',
      'question_5',
      'question_6',
      'question_7',
      'ok-1_b',
    ])
  })
})

describe('what an option means', () => {
  const long = 'It is a server of its own. '.repeat(5).trim()
  const options = [
    { label: 'Postgres', description: long, preview: { format: 'markdown', content: '`psql`' } },
    { label: 'SQLite', description: 'One file.', preview: { format: 'html', content: '<b>file</b>' } },
    { label: 'MySQL', preview: { format: 'text', content: 'a\nb' } },
  ]

  test('stands beside it where the protocol has a place for that', () => {
    const form = toForm([{ ...STORE, options }], { optionDescriptions: 'native' })
    expect(form.message).toBe('Which store?')
    expect(form.requestedSchema.properties.db).toMatchObject({
      oneOf: [
        { const: 'Postgres', title: 'Postgres', description: `${long}\n\n\`psql\`` },
        { const: 'SQLite', title: 'SQLite', description: 'One file.' },
        { const: 'MySQL', title: 'MySQL', description: 'a\nb' },
      ],
    })
  })

  test('else goes into its title when it is short, and into the message when it is long', () => {
    const form = toForm([{ ...STORE, options }], { optionDescriptions: 'folded' })
    expect(form.message).toBe(`Which store?\n\nPostgres:\n${long}\n\`psql\`\n\nMySQL:\na\nb`)
    expect(form.requestedSchema.properties.db).toMatchObject({
      oneOf: [
        { const: 'Postgres', title: 'Postgres' },
        { const: 'SQLite', title: 'SQLite — One file.' },
        { const: 'MySQL', title: 'MySQL' },
      ],
    })
  })

  test('is never a format that does not read as text', () => {
    for (const optionDescriptions of ['native', 'folded'] as const) {
      expect(JSON.stringify(toForm([{ ...STORE, options }], { optionDescriptions }))).not.toContain('<b>')
    }
  })
})

describe('an offered Other', () => {
  test('is the field for words, with what it means', () => {
    const own = { label: 'Other', description: 'Denies, with these words' }
    const fields = fieldsOf([{ ...STORE, options: [{ label: 'Allow' }, own] }])
    expect(fields.db).toMatchObject({ oneOf: [{ const: 'Allow', title: 'Allow' }] })
    expect(fields.db__other?.description).toBe('Denies, with these words\n\nInstead of choosing above.')
  })

  test('alone leaves a text', () => {
    expect(fieldsOf([{ ...STORE, options: [{ label: 'other' }] }])).toEqual({
      db: { type: 'string', title: 'Store' },
    })
  })
})

describe('what the fields hold at first', () => {
  test('is what the question names as its default', () => {
    const fields = fieldsOf([
      { ...STORE, default: { selected: ['Postgres'] } },
      { ...CHECKS, default: { selected: ['Lint', 'Tests'], custom: 'docs' } },
      { ...NAME, default: { selected: [], custom: 'Ada' } },
    ])
    const defaults = Object.entries(fields).map(([name, field]) => [name, field.default])
    expect(Object.fromEntries(defaults)).toEqual({
      db: 'Postgres',
      db__other: undefined,
      checks: ['Lint', 'Tests'],
      checks__other: 'docs',
      name: 'Ada',
    })
  })

  test('is what was said before, when it is asked again', () => {
    const form = toForm([{ ...STORE, default: { selected: ['Postgres'] } }, NAME], {
      optionDescriptions: 'folded',
      notice: 'Again.',
      prefill: [{ id: 'name', selected: [], custom: 'Ada' }],
    })
    expect(form.message).toMatch(/^Again\.\n\n1\. /u)
    expect(form.requestedSchema.properties.db).not.toHaveProperty('default')
    expect(form.requestedSchema.properties.name?.default).toBe('Ada')
  })

  test('is nothing for a guarded question or a review of a plan', () => {
    const preset = { default: { selected: ['Postgres'] } }
    const prefill = [{ id: 'db', selected: ['Postgres'] }]
    for (const kind of [
      { guarded: true },
      { detail: 'The plan.', intent: { kind: 'plan-review' as const, approve: 'Postgres' } },
    ]) {
      for (const given of [{}, { prefill }]) {
        const form = toForm([{ ...STORE, ...kind, ...preset }], { optionDescriptions: 'native', ...given })
        expect(form.requestedSchema.properties.db).not.toHaveProperty('default')
      }
    }
  })
})

describe('text of a model', () => {
  test('is shown with what a screen would obey written out, and answered as it was offered', () => {
    const label = 'Safe\u001b[2K\u202e'
    const form = toForm([{ ...STORE, question: 'A\u0000?', header: 'H\r', options: [{ label }] }], {
      optionDescriptions: 'folded',
    })
    expect(form.message).toBe('A\\u0000?')
    expect(form.requestedSchema.properties.db).toMatchObject({
      title: 'H\\u000d',
      oneOf: [{ const: label, title: 'Safe\\u001b[2K\\u202e' }],
    })
  })

  test('gives every choice a title of its own', () => {
    const options = [{ label: 'a\nb' }, { label: 'a b' }]
    expect(fieldsOf([{ ...STORE, options }]).db).toMatchObject({
      oneOf: [
        { const: 'a\nb', title: 'a b' },
        { const: 'a b', title: 'a b (2)' },
      ],
    })
  })
})

test('a style puts every text that a person reads, and nothing that comes back', () => {
  const text = { line: (line: string) => `<${line}>`, block: (block: string) => `{${block}}` }
  const store: Question = { ...STORE, detail: 'Fast.', default: { selected: ['Postgres'] } }
  const write = (questions: Question[]) =>
    toForm(questions, { optionDescriptions: 'native', notice: 'Again.', text })
  expect(write([store])).toEqual({
    message: '{Again.}\n\n{Which store?}\n\n{Fast.}',
    requestedSchema: {
      type: 'object',
      properties: {
        db: {
          type: 'string',
          title: '<Store>',
          oneOf: [
            { const: 'Postgres', title: '<Postgres>', description: '{A server.}' },
            { const: 'SQLite (Recommended)', title: '<SQLite (Recommended)>' },
          ],
          default: 'Postgres',
        },
        db__other: {
          type: 'string',
          title: '<Store: your own answer>',
          description: 'Instead of choosing above.',
        },
      },
    },
  })
  const several = write([store, NAME])
  expect(several.message).toBe('{Again.}\n\n1. <Which store?>\n2. <What is it called?>')
  expect(several.requestedSchema.properties.db?.description).toBe('{Which store?}\n\n{Fast.}')
})
