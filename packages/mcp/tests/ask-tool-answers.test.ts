import { describe, expect, test } from 'vitest'
import type { Screen } from './provider-clients.ts'
import { ask, chooses, codeOf, ERAS, join, offer, QUESTIONS, textOf } from './offer-scene.ts'

const CHECKS = {
  id: 'f',
  question: 'Which checks?',
  multi_select: true,
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}

const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u

/** A person who does the next of these with each form; and the messages they read. */
function person(...replies: object[]): { screen: Screen; messages: string[] } {
  const messages: string[] = []
  const screen: Screen = ({ message }) => replies[messages.push(message) - 1] ?? { action: 'cancel' }
  return { screen, messages }
}

const accept = (content?: object): object => ({
  action: 'accept',
  ...(content === undefined ? {} : { content }),
})

describe.each(ERAS)('what a person fills in at a client of %s', era => {
  test('reaches the model whole, ticks and words, in the order in which it was offered', async () => {
    const { screen } = person(accept({ f: ['Tests', 'Lint'], f__other: 'also docs, please' }))
    const result = await ask(await join(await offer(), era, { screen }), { questions: [CHECKS] })
    const answers = [{ id: 'f', selected: ['Lint', 'Tests'], custom: 'also docs, please' }]
    expect(result.structuredContent?.answers).toEqual(answers)
    expect(textOf(result)).toBe(JSON.stringify({ answers }))
  })

  test('is one label, whatever commas it holds', async () => {
    const options = [{ label: 'Yes, always' }, { label: 'Yes' }, { label: 'always' }]
    for (const multi_select of [false, true]) {
      const { screen } = person(accept({ go: multi_select ? ['Yes, always'] : 'Yes, always' }))
      const client = await join(await offer(), era, { screen })
      const result = await ask(client, { questions: [{ id: 'go', question: 'Go?', options, multi_select }] })
      expect(result.structuredContent?.answers).toEqual([{ id: 'go', selected: ['Yes, always'] }])
      expect(textOf(result)).toContain('["Yes, always"]')
    }
  })

  test('is quoted to the model without a word of our own, also when it asks to wait', async () => {
    const words = 'wait, explain the difference first'
    const { screen } = person(accept({ db__other: words }))
    const result = await ask(await join(await offer(), era, { screen }))
    expect(textOf(result)).toBe(JSON.stringify({ answers: [{ id: 'db', selected: [], custom: words }] }))
  })

  test('leaves out what was not touched, as an entry of its own', async () => {
    const { screen } = person(accept({ db: 'SQLite', f: [] }))
    const client = await join(await offer(), era, { screen })
    const result = await ask(client, { questions: [...QUESTIONS, CHECKS] })
    expect(result.structuredContent?.answers).toEqual([
      { id: 'db', selected: ['SQLite'] },
      { id: 'f', selected: [] },
    ])
  })

  test('is no answer while a form is accepted without its content', async () => {
    const { screen, messages } = person(accept(), accept({ db: 'SQLite' }))
    const result = await ask(await join(await offer(), era, { screen }))
    expect(messages[1]).toContain('an accepted form comes with its content')
    expect(result.structuredContent?.answers).toEqual([{ id: 'db', selected: ['SQLite'] }])
  })

  test('before they dismiss the rest is told, and is no answer', async () => {
    const faulty = accept({ db: 'SQLite', cache: 'SQLite', cache__other: 'and another' })
    const { screen, messages } = person(faulty, { action: 'cancel' })
    const host = await offer()
    const client = await join(host, era, { screen })
    const cache = { ...QUESTIONS[0], id: 'cache', question: 'Which cache?' }
    const result = await ask(client, { questions: [...QUESTIONS, cache] })
    expect(messages).toHaveLength(2)
    expect(codeOf(result)).toBe('ASK_CANCELLED')
    expect(textOf(result)).toContain('with 1 answered so far: [{"id":"db","selected":["SQLite"]}]')
    expect(result.structuredContent).toBeUndefined()
    const { requests } = await host.inbox.list({ state: 'settled' })
    expect(requests.map(({ settlement }) => settlement?.outcome)).toEqual(['cancelled'])
  })

  test('comes back as it was offered, whatever a screen would obey in it', async () => {
    const label = 'Safe\u001b[2K\u001b[1A\u001b]0;x\u0007\u009b31mFAKE\u202e\u{e0041}\ud800'
    const question = 'Ok?\r\b\u0000 \u001b]8;;https://example.com\u001b\\here\u001b]8;;\u001b\\'
    const shown: string[] = []
    const screen: Screen = ({ message, requestedSchema: { properties } }) => {
      const field = properties['a']
      const offered = field !== undefined && 'oneOf' in field ? field.oneOf : []
      shown.push(message, ...offered.map(({ title }) => title))
      return accept({ a: offered[0]?.const })
    }
    const client = await join(await offer(), era, { screen })
    const result = await ask(client, {
      questions: [{ id: 'a', question, options: [{ label }, { label: 'No' }] }],
    })
    expect(result.structuredContent?.answers).toEqual([{ id: 'a', selected: [label] }])
    // The text is the same JSON, without what would be obeyed.
    expect(JSON.parse(textOf(result))).toEqual({ answers: [{ id: 'a', selected: [label] }] })
    expect(textOf(result)).not.toMatch(OBEYED)
    expect(shown).toHaveLength(3)
    // Neither C0 but the line feed, nor C1, nor a mark that turns the direction of a text.
    expect(shown.join('')).not.toMatch(OBEYED)
    expect(shown[1]).toContain(String.raw`\u001b`)
  })

  test('is what a person of another script offered, in the order of its letters', async () => {
    const label = 'בחירה (Recommended)'
    const client = await join(await offer(), era, { screen: chooses(label) })
    const questions = [
      { id: 'db', question: 'איזה?', header: 'اختيار', options: [{ label }, { label: '選択肢' }] },
    ]
    const result = await ask(client, { questions })
    expect(result.structuredContent?.answers).toEqual([{ id: 'db', selected: [label] }])
  })

  test('may be a label that is offered in more text than a screen holds', async () => {
    const label = 'B'.repeat(200)
    const description = Array.from({ length: 120 }, (_, index) => `word${index}`).join(' ')
    const question = 'Which one of these is it? '.repeat(80).trim()
    let shown = ''
    const screen: Screen = form => {
      shown = JSON.stringify(form)
      return accept({ a: label })
    }
    const client = await join(await offer(), era, { screen })
    const options = [{ label, description }, { label: 'C' }]
    const result = await ask(client, { questions: [{ id: 'a', question, options }] })
    expect(result.structuredContent?.answers).toEqual([{ id: 'a', selected: [label] }])
    for (const text of [label, description, question]) expect(shown).toContain(text)
  })
})

test('an id that nobody gave comes back without what would be obeyed in it', async () => {
  const client = await join(await offer(), '2025')
  const result = await ask(client, { request_id: 'no\u202esuch\u0007id' })
  expect(codeOf(result)).toBe('UNKNOWN_REQUEST')
  expect(textOf(result)).not.toMatch(OBEYED)
  expect(textOf(result)).toContain(String.raw`no\u202esuch`)
})
