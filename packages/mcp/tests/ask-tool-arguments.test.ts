import type { Form } from '@handraise/elicitation'
import { describe, expect, test } from 'vitest'
import type { Screen } from './provider-clients.ts'
import { ask, ERAS, join, offer, pendingIn, QUESTIONS, textOf, type Asked, type Era } from './offer-scene.ts'

interface Called {
  readonly result: Asked
  /** The forms that the person was shown. */
  readonly forms: Form[]
  /** How many requests there are, settled or not. */
  readonly requests: number
}

/** Calls the tool of a host of its own, with a person who fills that in. */
async function call(era: Era, args: object, content: object = {}): Promise<Called> {
  const host = await offer()
  const forms: Form[] = []
  const screen: Screen = form => {
    forms.push(form)
    return { action: 'accept', content }
  }
  const result = await ask(await join(host, era, { screen }), args)
  const settled = (await host.inbox.list({ state: 'settled' })).requests
  return { result, forms, requests: settled.length + (await pendingIn(host.inbox)).length }
}

const labels = (count: number): { label: string }[] =>
  Array.from({ length: count }, (_, index) => ({ label: `Label ${index + 1}` }))

/** The labels that a form offers in one of its fields. */
function offeredIn(form: Form | undefined, name: string): string[] {
  const field = form?.requestedSchema.properties[name]
  return field !== undefined && 'oneOf' in field ? field.oneOf.map(option => option.const) : []
}

describe.each(ERAS)('a client of %s', era => {
  const options = JSON.stringify(['Postgres', 'SQLite'])

  test.each([
    ['the questions', { questions: JSON.stringify([{ ...QUESTIONS[0], options: ['Postgres', 'SQLite'] }]) }],
    ['the options', { questions: [{ id: 'db', question: 'Which store?', options }] }],
    ['one question without a list', { questions: { ...QUESTIONS[0], options } }],
  ])('that sends %s as JSON in a text asks the usual question', async (_, args) => {
    const { result, forms } = await call(era, args, { db: 'SQLite' })
    expect(result.structuredContent?.answers).toEqual([{ id: 'db', selected: ['SQLite'] }])
    expect(offeredIn(forms[0], 'db')).toEqual(['Postgres', 'SQLite'])
  })

  test('that sends options in single quotes is told so, and nobody is asked', async () => {
    const questions = [{ id: 'db', question: 'Which store?', options: "[{'label': 'A'}]" }]
    const { result, forms, requests } = await call(era, { questions })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('questions[0].options: expected an array, got a string that is not JSON')
    expect([forms, requests]).toEqual([[], 0])
  })

  test('is told every fault of its questions at once, and nobody is asked', async () => {
    const questions = [
      { id: 'a', question: '' },
      { id: 'b', question: 'Ok?', options: [{ label: 7 }] },
    ]
    const { result, forms, requests } = await call(era, { questions })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('questions[0].question: must not be blank')
    expect(textOf(result)).toContain('questions[1].options[0].label: expected a string, got a number')
    expect([forms, requests]).toEqual([[], 0])
  })

  test.each([
    ['one option', [{ id: 'a', question: 'Ok?', options: labels(1) }]],
    ['five options', [{ id: 'a', question: 'Ok?', options: labels(5) }]],
    ['six questions', labels(6).map(({ label }, index) => ({ id: `q${index}`, question: `${label}?` }))],
    [
      'a header of 13 columns',
      [{ id: 'a', question: 'Where?', header: 'Module & repo', options: labels(2) }],
    ],
  ])('may ask with %s, more than it is advised', async (_, questions) => {
    const { result, forms } = await call(era, { questions })
    expect(result.structuredContent?.answers).toEqual(questions.map(({ id }) => ({ id, selected: [] })))
    expect(forms).toHaveLength(1)
    const fields = forms[0]?.requestedSchema.properties ?? {}
    for (const { id, header } of questions as { id: string; header?: string }[])
      if (header !== undefined) expect(fields[id]?.title).toBe(header)
  })

  test.each([
    ['33 options', [{ id: 'a', question: 'Ok?', options: labels(33) }], /33 options .* 32 allowed/u],
    ['no questions', [], /requires at least one question/u],
    [
      'the id of two',
      ['First?', 'Second?'].map(question => ({ id: 'x', question })),
      /questions\[1\]\.id: .*"x"/u,
    ],
    [
      'a label twice',
      [{ id: 'a', question: 'Ok?', options: [{ label: 'Yes' }, { label: 'Yes' }] }],
      /questions\[0\]\.options\[1\]\.label/u,
    ],
    [
      'labels that read the same',
      [{ id: 'a', question: 'Ok?', options: [{ label: 'Yes' }, { label: 'yes ' }] }],
      /questions\[0\]\.options\[1\]\.label/u,
    ],
  ])('is refused with %s, and nobody is asked', async (_, questions, told) => {
    const { result, forms, requests } = await call(era, { questions })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(told)
    expect([forms, requests]).toEqual([[], 0])
  })

  test('is told the ids it did not give', async () => {
    const questions = [{ question: 'First?' }, { question: 'Second?' }]
    const { result } = await call(era, { questions }, { q1: 'one', q2: 'two' })
    expect(result.structuredContent?.answers).toEqual([
      { id: 'q1', selected: [], custom: 'one' },
      { id: 'q2', selected: [], custom: 'two' },
    ])
  })

  test('may call a question like a member of every object, and keeps those of the same text apart', async () => {
    const same = { header: 'Store', question: 'Which store?', options: [{ label: 'A' }, { label: 'B' }] }
    const questions = ['__proto__', 'constructor', 'db'].map(id => ({ id, ...same }))
    const content = { question_1: 'A', question_2__other: 'neither', db: 'B' }
    const { result, forms } = await call(era, { questions }, content)
    expect(result.structuredContent?.answers).toEqual([
      { id: '__proto__', selected: ['A'] },
      { id: 'constructor', selected: [], custom: 'neither' },
      { id: 'db', selected: ['B'] },
    ])
    expect(Object.keys(forms[0]?.requestedSchema.properties ?? {})).toHaveLength(6)
    expect(({} as { selected?: unknown }).selected).toBeUndefined()
  })

  test('that offers "Other" itself has one place for words, and what only begins so stays an option', async () => {
    const offered = ['A', 'Other', 'Something else', 'Other (please specify)']
    const questions = [{ id: 'db', question: 'Which store?', options: offered }]
    const { result, forms } = await call(era, { questions }, { db__other: 'mine' })
    expect(result.structuredContent?.answers).toEqual([{ id: 'db', selected: [], custom: 'mine' }])
    expect(offeredIn(forms[0], 'db')).toEqual(['A', 'Something else', 'Other (please specify)'])
    expect(Object.keys(forms[0]?.requestedSchema.properties ?? {})).toEqual(['db', 'db__other'])
  })
})
