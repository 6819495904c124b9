import { MemoryMedium, MemoryStore } from '@handraise/inbox'
import type { Progress } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import type { PrincipalOption } from '../src/index.ts'
import {
  ANSWERED,
  ask,
  chooses,
  codeOf,
  decide,
  ERAS,
  HeldClock,
  join,
  nobody,
  offer,
  onePending,
  pendingIn,
  QUESTIONS,
  settle,
  textOf,
} from './offer-scene.ts'

const LIMIT_MS = 50_000
const PAGE = 'http://127.0.0.1:4100/'

const again = (request_id: string | undefined): object => ({ request_id })

describe.each(ERAS)('a call of a client of %s', era => {
  test('returns before the client gives it up, and the next one goes on with its id', async () => {
    const clock = new HeldClock()
    const host = await offer({}, { clock })
    const client = await join(host, era)
    const asking = ask(client)
    const id = await onePending(host.inbox)
    await clock.pass(LIMIT_MS)
    const first = await asking
    expect(first.isError ?? false).toBe(false)
    expect(first.structuredContent).toEqual({ status: 'waiting', request_id: id })
    expect(textOf(first)).toContain(`{"request_id":"${id}"}`)
    expect(textOf(first)).toContain('Do not ask the same anew')
    const goingOn = ask(client, again(id))
    await clock.pass(LIMIT_MS)
    expect((await goingOn).structuredContent).toEqual({ status: 'waiting', request_id: id })
    const last = ask(client, again(id))
    await settle()
    await decide(host.inbox, id)
    expect(textOf(await last)).toBe(ANSWERED)
    expect(await pendingIn(host.inbox)).toEqual([])
  })

  test('gets what was answered after the last one returned, as often as it asks', async () => {
    const clock = new HeldClock()
    const host = await offer({}, { clock })
    const client = await join(host, era)
    const asking = ask(client)
    const id = await onePending(host.inbox)
    await clock.pass(LIMIT_MS)
    await asking
    await decide(host.inbox, id)
    const both = await Promise.all([ask(client, again(id)), ask(client, again(id))])
    expect(both.map(textOf)).toEqual([ANSWERED, ANSWERED])
  })

  test('tells a client that wants to know that it waits, and where to answer, once', async () => {
    const clock = new HeldClock()
    const host = await offer({ page: () => PAGE }, { clock })
    const told: Progress[] = []
    const client = await join(host, era)
    const asking = ask(client, undefined, { onprogress: progress => void told.push(progress) })
    const id = await onePending(host.inbox)
    await clock.pass(25_000)
    await decide(host.inbox, id)
    expect(textOf(await asking)).toBe(ANSWERED)
    expect(told.map(({ progress }) => progress)).toEqual([1, 2, 3, 4])
    const messages = told.map(({ message = '' }) => message)
    expect(messages.every(message => message.includes('aiting for the user'))).toBe(true)
    expect(messages.filter(message => message.includes(PAGE))).toHaveLength(1)
  })

  test('returns where to answer once', async () => {
    const clock = new HeldClock()
    const host = await offer({ page: () => PAGE }, { clock })
    const client = await join(host, era)
    const asking = ask(client)
    const id = await onePending(host.inbox)
    await clock.pass(LIMIT_MS)
    expect((await asking).structuredContent).toEqual({ status: 'waiting', request_id: id, page: PAGE })
    const goingOn = ask(client, again(id))
    await clock.pass(LIMIT_MS)
    const second = await goingOn
    expect(second.structuredContent).toEqual({ status: 'waiting', request_id: id })
    expect(textOf(second)).not.toContain(PAGE)
  })

  test('finds no request that another principal has asked', async () => {
    const clock = new HeldClock()
    const principal: PrincipalOption = ({ mcpReq }) => (mcpReq._meta?.['who'] === 'bob' ? 'bob' : 'ann')
    const host = await offer({ principal }, { clock })
    const client = await join(host, era)
    const asking = ask(client)
    const id = await onePending(host.inbox)
    await clock.pass(LIMIT_MS)
    await asking
    const stolen = await client.callTool({
      name: 'ask_user_question',
      arguments: { request_id: id },
      _meta: { who: 'bob' },
    })
    expect(codeOf(stolen as never)).toBe('UNKNOWN_REQUEST')
    const unknown = await ask(client, again('8a6e0804-2bd0-4672-b79d-d97027f9071a'))
    expect(codeOf(unknown)).toBe('UNKNOWN_REQUEST')
    expect(await pendingIn(host.inbox)).toEqual([id])
  })

  test('is not taken for an answer to other questions', async () => {
    const clock = new HeldClock()
    const host = await offer({}, { clock })
    const client = await join(host, era)
    const asking = ask(client)
    const id = await onePending(host.inbox)
    await clock.pass(LIMIT_MS)
    await asking
    await decide(host.inbox, id)
    const other = await ask(client, { request_id: id, questions: [{ id: 'db', question: 'Which one?' }] })
    expect(codeOf(other)).toBe('OTHER_QUESTIONS')
    expect(textOf(await ask(client, { request_id: id, questions: QUESTIONS }))).toBe(ANSWERED)
    expect(textOf(await ask(client, { request_id: id, questions: [] }))).toBe(ANSWERED)
  })

  test('that is cancelled leaves no card behind that answers nobody', async () => {
    const host = await offer()
    const client = await join(host, era)
    const controller = new AbortController()
    const asking = ask(client, undefined, { signal: controller.signal }).catch(() => 'cancelled')
    const id = await onePending(host.inbox)
    controller.abort()
    expect(await asking).toBe('cancelled')
    await expect.poll(() => pendingIn(host.inbox)).toEqual([])
    const { settlement } = await host.inbox.get(id)
    expect(settlement).toMatchObject({ outcome: 'aborted', reason: 'the asker went away' })
  })

  test('that is cancelled leaves what can be taken up again', async () => {
    const clock = new HeldClock()
    const host = await offer({}, { clock })
    const client = await join(host, era)
    const asking = ask(client)
    const id = await onePending(host.inbox)
    await clock.pass(LIMIT_MS)
    await asking
    const controller = new AbortController()
    const goingOn = ask(client, again(id), { signal: controller.signal }).catch(() => 'cancelled')
    await settle()
    controller.abort()
    expect(await goingOn).toBe('cancelled')
    await settle()
    await decide(host.inbox, id)
    expect(textOf(await ask(client, again(id)))).toBe(ANSWERED)
  })

  test('that named itself is found again when it is repeated', async () => {
    const host = await offer()
    const client = await join(host, era)
    const controller = new AbortController()
    const options = { callId: 'call-1' }
    const asking = ask(client, undefined, { ...options, signal: controller.signal }).catch(() => 'cancelled')
    const id = await onePending(host.inbox)
    controller.abort()
    expect(await asking).toBe('cancelled')
    const repeated = ask(client, undefined, options)
    await settle()
    await decide(host.inbox, id)
    expect((await repeated).structuredContent).toMatchObject({ request_id: id, status: 'answered' })
  })

  test('returns when the host goes down, and is taken up on the next one', async () => {
    const medium = new MemoryMedium()
    const first = await offer({}, { store: new MemoryStore(medium) })
    const asking = ask(await join(first, era))
    const id = await onePending(first.inbox)
    await first.dispose()
    expect((await asking).structuredContent).toEqual({ status: 'waiting', request_id: id })
    const second = await offer({}, { store: new MemoryStore(medium) })
    await decide(second.inbox, id)
    expect(textOf(await ask(await join(second, era), again(id)))).toBe(ANSWERED)
  })
})

test('a form stays when the call returns, and what is filled in then counts', async () => {
  const clock = new HeldClock()
  const host = await offer({}, { clock })
  let fillIn = (_: object): void => {}
  const client = await join(host, '2025', { screen: () => new Promise(resolve => (fillIn = resolve)) })
  const asking = ask(client)
  const id = await onePending(host.inbox)
  await clock.pass(LIMIT_MS)
  expect((await asking).structuredContent).toMatchObject({ status: 'waiting' })
  const goingOn = ask(client, again(id))
  await clock.pass(LIMIT_MS)
  await goingOn
  fillIn({ action: 'accept', content: { db: 'SQLite' } })
  await settle()
  expect(textOf(await ask(client, again(id)))).toBe(ANSWERED)
})

test('a form is taken down with the call that is cancelled', async () => {
  const host = await offer()
  const shown = nobody()
  const client = await join(host, '2025', { screen: shown.screen })
  const controller = new AbortController()
  const asking = ask(client, undefined, { signal: controller.signal }).catch(() => 'cancelled')
  await shown.up
  controller.abort()
  await shown.down
  expect(await asking).toBe('cancelled')
  await expect.poll(() => pendingIn(host.inbox)).toEqual([])
})

test('another client that goes on with a question is shown its form', async () => {
  const clock = new HeldClock()
  const host = await offer({}, { clock })
  const shown = nobody()
  const first = await join(host, '2025', { screen: shown.screen })
  const asking = ask(first)
  const id = await onePending(host.inbox)
  await clock.pass(LIMIT_MS)
  await asking
  const second = await join(host, '2025', { screen: chooses('SQLite') })
  expect(textOf(await ask(second, again(id)))).toBe(ANSWERED)
  await shown.down
})

test('a client that comes back after its form was lost is shown it again', async () => {
  const clock = new HeldClock()
  const host = await offer({}, { clock })
  const shown = nobody()
  const first = await join(host, '2025', { screen: shown.screen })
  const asking = ask(first)
  const id = await onePending(host.inbox)
  await clock.pass(LIMIT_MS)
  await asking
  await first.close()
  await settle()
  const second = await join(host, '2025', { screen: chooses('SQLite') })
  expect(textOf(await ask(second, again(id)))).toBe(ANSWERED)
})

test('what only a killed host’s call knew of is withdrawn at the next start, and nothing else', async () => {
  const medium = new MemoryMedium()
  const clock = new HeldClock()
  // It is never disposed before the next one starts, as if it had been killed.
  const killed = await offer({}, { store: new MemoryStore(medium), clock })
  const client = await join(killed, '2025')
  const asking = ask(client)
  const told = await onePending(killed.inbox)
  await clock.pass(LIMIT_MS)
  await asking
  ask(client).catch(() => {})
  await expect.poll(() => pendingIn(killed.inbox)).toHaveLength(2)
  const later = new HeldClock()
  await later.pass(600_000)
  const next = await offer({}, { store: new MemoryStore(medium), clock: later })
  expect(await pendingIn(next.inbox)).toEqual([told])
  await decide(next.inbox, told)
  expect(textOf(await ask(await join(next, '2025'), again(told)))).toBe(ANSWERED)
})
