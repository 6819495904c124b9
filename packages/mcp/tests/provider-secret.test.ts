import type { Question } from '@handraise/user-questions/types'
import { describe, expect, test } from 'vitest'
import { mcpElicitationProvider } from '../src/provider.ts'
import { requestOf } from './provider-asking.ts'
import { clientV1, clientV2, serverFor } from './provider-clients.ts'

describe.each([
  ['1', clientV1],
  ['2', clientV2],
])('through an official client of generation %s', (_, client) => {
  /** Asks somebody who writes or chooses the same whatever they are asked. */
  async function ask(question: Question, kind?: string) {
    let shown = 0
    const screen = (): object => {
      shown += 1
      return { action: 'accept', content: { k: 'Yes' } }
    }
    const provider = mcpElicitationProvider(await serverFor(client(screen)), { autoDeclineMs: 0 })
    const request = { ...requestOf([question]), ...(kind === undefined ? {} : { kind }) }
    const result = await provider.ask(request).catch((error: unknown) => error)
    return { shown, result }
  }

  test.each<[Question]>([
    [{ id: 'password', question: 'Which one?' }],
    [{ id: 'k', question: 'What is your database password?' }],
    [{ id: 'k', header: 'Database', question: 'What is your password?' }],
    [{ id: 'k', header: 'API key', question: 'Paste it here' }],
    [{ id: 'k', question: 'What is your API key?', options: [{ label: 'Yes' }, { label: 'No' }] }],
  ])('a secret is asked for by no form, and is unavailable: %j', async question => {
    expect(await ask(question)).toEqual({
      shown: 0,
      result: expect.objectContaining({
        code: 'ASK_UNAVAILABLE',
        details: expect.objectContaining({ reason: 'unsupported-question' }) as unknown,
      }),
    })
  })

  test('a choice about tokens is asked for, and so is whether to do something with a secret', async () => {
    const options = [{ label: 'Yes' }, { label: 'No' }]
    const answered = { shown: 1, result: { answers: [{ id: 'k', selected: ['Yes'] }] } }
    expect(await ask({ id: 'k', header: 'Max tokens', question: 'More tokens?', options })).toEqual(answered)
    const approval: Question = { id: 'k', header: 'reset_password', question: 'Reset the password?', options }
    expect(await ask(approval, 'approval')).toEqual(answered)
  })
})
