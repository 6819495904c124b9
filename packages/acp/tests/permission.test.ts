import type { Question } from '@handraise/user-questions/types'
import { RequestError, type RequestPermissionRequest } from '@agentclientprotocol/sdk'
import { describe, expect, test } from 'vitest'
import { acpProvider } from '../src/index.ts'
import { HandClock, requestOf, STORE } from './asking.ts'
import { connected } from './editor.ts'

const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } })

/** An editor that can show permissions alone, whose person takes their time, then does the next of `replies`. */
function editor(replies: readonly unknown[], tookMs = 2_000) {
  const clock = new HandClock()
  const requests: RequestPermissionRequest[] = []
  const { ours } = connected({
    permission(request) {
      clock.pass(tookMs)
      return replies[requests.push(request) - 1]
    },
  })
  const provider = acpProvider(ours.client, { sessionId: 'session-1', clock })
  const ask = (...questions: Question[]) => provider.ask(requestOf({ questions, key: 'call-1' }))
  return { requests, ask }
}

describe('a single choice, where the editor has no forms', () => {
  test('is a permission request whose options are the labels, and one to skip', async () => {
    const { requests, ask } = editor([selected('choice_2')])
    expect(await ask({ ...STORE, detail: 'It must be *fast*.' })).toEqual({
      answers: [{ id: 'db', selected: ['SQLite'] }],
    })
    expect(requests).toEqual([
      {
        sessionId: 'session-1',
        toolCall: {
          toolCallId: 'call-1',
          title: 'Which store?',
          kind: 'other',
          status: 'pending',
          content: [{ type: 'content', content: { type: 'text', text: '```\nIt must be *fast*.\n```' } }],
        },
        options: [
          { optionId: 'choice_1', name: 'Postgres — A server.', kind: 'allow_once' },
          { optionId: 'choice_2', name: 'SQLite', kind: 'allow_once' },
          { optionId: 'skip', name: 'Skip this question', kind: 'reject_once' },
        ],
      },
    ])
  })

  test('draws nothing, whatever its labels say', async () => {
    const { requests, ask } = editor([selected('choice_1')])
    const label = '![x](https://evil.example)'
    const options = [{ label, description: '~~Deny~~' }, { label: 'ask_user_question' }]
    expect((await ask({ ...STORE, options })).answers).toEqual([{ id: 'db', selected: [label] }])
    expect(requests[0]?.options.map(({ name }) => name)).toEqual([
      String.raw`!\[x\](https://evil.example) — \~\~Deny\~\~`,
      'ask_user_question',
      'Skip this question',
    ])
  })

  test('may be skipped', async () => {
    expect(await editor([selected('skip')]).ask(STORE)).toEqual({ answers: [{ id: 'db', selected: [] }] })
  })

  test('that must be made may be declined instead', async () => {
    const { requests, ask } = editor([selected('decline')])
    await expect(ask({ ...STORE, minSelections: 1 })).rejects.toMatchObject({ code: 'ASK_DECLINED' })
    expect(requests[0]?.options.at(-1)).toMatchObject({ optionId: 'decline', kind: 'reject_once' })
  })

  test('of a plan approves by the one label that does', async () => {
    const plan: Question = {
      id: 'plan',
      question: 'Go ahead?',
      detail: 'The plan.',
      options: [{ label: 'Approve' }, { label: 'Keep planning' }],
      intent: { kind: 'plan-review', approve: 'Approve' },
    }
    const { requests, ask } = editor([selected('choice_1')])
    await ask(plan)
    expect(requests[0]?.options.map(({ kind }) => kind)).toEqual(['allow_once', 'reject_once', 'reject_once'])
  })

  test('ends as the editor cancels it', async () => {
    await expect(editor([{ outcome: { outcome: 'cancelled' } }]).ask(STORE)).rejects.toMatchObject({
      code: 'ASK_CANCELLED',
    })
  })

  test('is asked for again when none of the options came back, three times', async () => {
    const { requests, ask } = editor([selected('choice_9'), selected('Postgres'), selected('choice_1')])
    expect((await ask(STORE)).answers).toEqual([{ id: 'db', selected: ['Postgres'] }])
    expect(JSON.stringify(requests[1]?.toolCall.content)).toContain('choice_9')
    const never = editor(Array.from({ length: 9 }, () => selected('nothing')))
    await expect(never.ask(STORE)).rejects.toThrow('no answer after 3 rounds')
    expect(never.requests).toHaveLength(3)
  })

  test.each([
    [null],
    [{}],
    [{ outcome: 'selected' }],
    [{ outcome: { outcome: 'selected' } }],
    [selected(7 as never)],
  ])('is not answered by %j', async reply => {
    await expect(editor([reply]).ask(STORE)).rejects.toThrow('did not say what became of')
  })

  test('is no choice of settings that allow whatever comes', async () => {
    await expect(editor([selected('choice_1')], 20).ask(STORE)).rejects.toMatchObject({
      code: 'ASK_UNAVAILABLE',
      details: { reason: 'no-capable-client' },
    })
  })
})

describe('several single choices', () => {
  const questions = [STORE, { ...STORE, id: 'cache', question: 'Which cache?' }]

  test('are asked one after the other', async () => {
    const { requests, ask } = editor([selected('choice_1'), selected('choice_2')])
    expect((await ask(...questions)).answers).toEqual([
      { id: 'db', selected: ['Postgres'] },
      { id: 'cache', selected: ['SQLite'] },
    ])
    expect(requests.map(({ toolCall }) => toolCall.title)).toEqual(['Which store?', 'Which cache?'])
  })

  const kept = [{ id: 'db', selected: ['Postgres'] }]

  test('keep what was chosen when the session is cancelled', async () => {
    let shown = 0
    const { ours } = connected({
      permission() {
        shown += 1
        if (shown === 1) return selected('choice_1')
        provider.cancelSession('session-1')
        return new Promise(() => {})
      },
    })
    const provider = acpProvider(ours.client, { sessionId: 'session-1', autoAnswerMs: 0 })
    await expect(provider.ask(requestOf({ questions }))).rejects.toMatchObject({
      code: 'ASK_CANCELLED',
      details: { reason: 'the turn was cancelled', answers: kept },
    })
  })

  test('keep what was chosen when the editor cancels the request itself', async () => {
    let shown = 0
    const { ours } = connected({
      permission() {
        shown += 1
        if (shown === 1) return selected('choice_1')
        throw RequestError.requestCancelled()
      },
    })
    const provider = acpProvider(ours.client, { sessionId: 'session-1', autoAnswerMs: 0 })
    await expect(provider.ask(requestOf({ questions }))).rejects.toMatchObject({
      code: 'ASK_CANCELLED',
      details: { reason: 'the client cancelled it', answers: kept },
    })
  })

  test('end by the reason of who aborts them, as it is', async () => {
    const controller = new AbortController()
    const reason = new Error('answered elsewhere')
    let shown = 0
    const { ours } = connected({
      permission() {
        shown += 1
        if (shown === 1) return selected('choice_1')
        controller.abort(reason)
        return new Promise(() => {})
      },
    })
    const provider = acpProvider(ours.client, { sessionId: 'session-1', autoAnswerMs: 0 })
    const asking = provider.ask(requestOf({ questions, signal: controller.signal }))
    await expect(asking).rejects.toBe(reason)
  })

  test('keep what was chosen when the rest is cancelled', async () => {
    const { ask } = editor([selected('choice_1'), { outcome: { outcome: 'cancelled' } }])
    await expect(ask(...questions)).rejects.toMatchObject({
      code: 'ASK_CANCELLED',
      details: { answers: [{ id: 'db', selected: ['Postgres'] }] },
    })
  })
})
