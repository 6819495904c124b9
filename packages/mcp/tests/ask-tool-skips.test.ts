import { expect, test } from 'vitest'
import type { Screen } from './provider-clients.ts'
import { ask, ERAS, join, offer, QUESTIONS, textOf } from './offer-scene.ts'

test.each(ERAS)(
  'what a person left out before they dismiss the rest is not told as answered (%s)',
  async era => {
    const replies = [
      {
        action: 'accept',
        content: { db: 'SQLite', cache: 'SQLite', cache__other: 'and another' },
      },
      { action: 'cancel' },
    ]
    const screen: Screen = () => replies.shift()
    const client = await join(await offer(), era, { screen })
    const cache = { ...QUESTIONS[0], id: 'cache', question: 'Which cache?' }
    const result = await ask(client, {
      questions: [...QUESTIONS, cache, { id: 'name', question: 'Name?' }],
    })
    expect(textOf(result)).toContain('with 1 answered so far: [{"id":"db","selected":["SQLite"]}]')
  },
)
