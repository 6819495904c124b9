import type { JsonValue, RequestKind } from '@handraise/inbox'
import type { Answer } from '@handraise/user-questions'
import { describe, expect, test } from 'vitest'
import { manualProvider, startHost } from './host.ts'

/** A kind of which the inbox knows nothing: a door that is opened or not. */
const door: RequestKind = {
  name: 'door',
  check: (_, answer) => {
    const { open } = answer as { open?: unknown }
    return typeof open === 'boolean'
      ? { ok: true, answer: { open } }
      : { ok: false, issues: [{ path: 'open', message: 'expected true or false' }] }
  },
  recordsOf: (request, answer) =>
    (answer as { open: boolean }).open
      ? [{ namespace: 'doors', key: request.id, value: request.payload, expectedVersion: 0 }]
      : [],
  asQuestions: () => [
    { id: 'door', question: 'Open it?', options: [{ label: 'Open' }, { label: 'Leave it' }], guarded: true },
  ],
  fromAnswers: (_, answers): JsonValue => ({ open: answers[0]?.selected[0] === 'Open' }),
}

async function start() {
  const host = await startHost()
  host.ctx.inbox.registerKind(door)
  const ask = (more: object = {}) =>
    host.ctx.inbox.request({ kind: 'door', payload: { of: 'shed' }, ...more })
  return { ...host, ask }
}

describe('a request of a kind that others own', () => {
  test('is shown by providers as questions, and its answer comes back in its own words', async () => {
    const { ctx, ask } = await start()
    const provider = manualProvider('terminal')
    ctx.userQuestions.registerProvider(provider)
    const settled = ask()
    await expect.poll(() => provider.shown.length).toBe(1)
    expect(provider.shown[0]?.request).toMatchObject({
      kind: 'door',
      payload: { of: 'shed' },
      questions: [{ id: 'door', guarded: true }],
    })
    provider.shown[0]?.answer('Open')
    expect((await settled).settlement).toMatchObject({
      outcome: 'answered',
      answer: { open: true },
      surface: 'terminal',
    })
  })

  test('writes the records of its answer with the settlement, and none with another', async () => {
    const { ctx, inbox, ask } = await start()
    const provider = manualProvider('terminal')
    ctx.userQuestions.registerProvider(provider)
    for (const [index, label] of ['Leave it', 'Open'].entries()) {
      const settled = ask()
      await expect.poll(() => provider.shown.length).toBe(index + 1)
      provider.shown[index]?.answer(label)
      await settled
    }
    const records = await inbox.store.records('doors')
    expect(records).toMatchObject([{ value: { of: 'shed' } }])
    expect((await inbox.list({ state: 'settled' })).requests[0]?.id).toBe(records[0]?.key)
  })

  test('settles nothing when its record cannot be written', async () => {
    const { inbox } = await start()
    const { request } = await inbox.open({ kind: 'door', payload: {} })
    await inbox.store.writeRecords([{ namespace: 'doors', key: request.id, value: 'there already' }])
    const opening = inbox.decide(
      request.id,
      { outcome: 'answered', answer: { open: true } },
      { commandId: 'c', surface: 'web' },
    )
    await expect(opening).rejects.toMatchObject({ code: 'RECORD_CONFLICT' })
    expect((await inbox.get(request.id)).settlement).toBeUndefined()
  })

  test('is answered by no policy of a provider that was not made for it', async () => {
    const { ctx, inbox, ask } = await start()
    const answers: Answer[] = [{ id: 'door', selected: ['Open'], by: 'policy' }]
    ctx.userQuestions.registerProvider({ name: 'rules', ask: () => Promise.resolve({ answers }) })
    const asked = manualProvider('terminal')
    ctx.userQuestions.registerProvider(asked)
    const settled = ask()
    await expect.poll(() => asked.shown.length).toBe(1)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
    asked.shown[0]?.answer('Leave it')
    expect((await settled).settlement).toMatchObject({ answer: { open: false }, by: 'user' })
  })

  test('is answered by the rules of a provider that says so', async () => {
    const { ctx, ask } = await start()
    const answers: Answer[] = [{ id: 'door', selected: ['Open'], by: 'policy' }]
    ctx.userQuestions.registerProvider({
      name: 'rules',
      answersKinds: ['door'],
      ask: () => Promise.resolve({ answers }),
    })
    expect((await ask()).settlement).toMatchObject({ answer: { open: true }, by: 'policy' })
  })

  test('is withdrawn when its asker goes, and kept when it has a key and the host goes', async () => {
    const { fiber, inbox, ask, medium, ctx } = await start()
    const leaving = new AbortController()
    const left = ctx.inbox.request({ kind: 'door', payload: {} }, leaving.signal)
    await expect.poll(async () => (await inbox.list({ state: 'pending' })).requests.length).toBe(1)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    expect((await inbox.list({ state: 'settled' })).requests[0]?.settlement).toMatchObject({
      outcome: 'aborted',
    })
    const kept = ask({ key: 'call-1' })
    kept.catch(() => {})
    await expect.poll(async () => (await inbox.list({ state: 'pending' })).requests.length).toBe(1)
    await fiber.dispose()
    await expect(kept).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    const later = await startHost(medium)
    expect((await later.inbox.list({ state: 'pending' })).requests).toMatchObject([
      { kind: 'door', key: 'call-1' },
    ])
    await later.fiber.dispose()
  })
})
