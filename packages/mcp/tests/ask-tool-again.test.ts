import { MemoryStore } from '@handraise/inbox'
import { expect, test } from 'vitest'
import { carrying, CHOICE, DECLINE, send } from './carried-form.ts'
import {
  ANSWERED,
  codeOf,
  decide,
  HeldClock,
  offer,
  onePending,
  pendingIn,
  settle,
  textOf,
} from './offer-scene.ts'

/** What a client replies by itself, so that the call waits for the inbox. */
const BY_ITSELF = { autoDeclineMs: 10_000 }
const PAUSE_TTL_MS = 30 * 24 * 60 * 60 * 1_000

/** Keeps which keys of a namespace were ever written. */
class WatchedStore extends MemoryStore {
  readonly written: string[] = []

  override writeRecords(...[writes]: Parameters<MemoryStore['writeRecords']>) {
    this.written.push(...writes.map(({ namespace }) => namespace))
    return super.writeRecords(writes)
  }
}

test('a form’s return that is sent twice keeps its question while one of the two calls is there', async () => {
  const host = await offer(BY_ITSELF)
  const client = await carrying(host)
  const from = await send(client)
  const controller = new AbortController()
  const first = send(client, { reply: DECLINE, from, signal: controller.signal }).catch(() => 'gone')
  await expect.poll(async () => (await host.inbox.store.records('mcp-untold')).length).toBe(1)
  const second = send(client, { reply: DECLINE, from })
  await settle()
  controller.abort()
  expect(await first).toBe('gone')
  await settle()
  const id = await onePending(host.inbox)
  await decide(host.inbox, id)
  expect(textOf(await second)).toBe(ANSWERED)
})

test('and is withdrawn with the last of them', async () => {
  const host = await offer(BY_ITSELF)
  const client = await carrying(host)
  const from = await send(client)
  const controllers = [new AbortController(), new AbortController()]
  const calls = []
  for (const { signal } of controllers) {
    calls.push(send(client, { reply: DECLINE, from, signal }).catch(() => 'gone'))
    await expect.poll(async () => (await host.inbox.store.records('mcp-untold')).length).toBe(1)
    await settle()
  }
  controllers[0]?.abort()
  await settle()
  expect(await pendingIn(host.inbox)).toHaveLength(1)
  controllers[1]?.abort()
  expect(await Promise.all(calls)).toEqual(['gone', 'gone'])
  await expect.poll(() => pendingIn(host.inbox)).toEqual([])
})

test('a return that is sent again after its call was given up hears that the question was withdrawn', async () => {
  const host = await offer(BY_ITSELF)
  const client = await carrying(host)
  const from = await send(client)
  const controller = new AbortController()
  const first = send(client, { reply: DECLINE, from, signal: controller.signal }).catch(() => 'gone')
  await expect.poll(async () => (await host.inbox.store.records('mcp-untold')).length).toBe(1)
  controller.abort()
  await first
  await expect.poll(() => pendingIn(host.inbox)).toEqual([])
  expect(codeOf(await send(client, { reply: DECLINE, from }))).toBe('ASK_ABORTED')
})

test('a return that is sent again after the question was answered gets the answer, and not that it waits', async () => {
  const clock = new HeldClock()
  const host = await offer(BY_ITSELF, { clock })
  const client = await carrying(host)
  const from = await send(client)
  const asking = send(client, { reply: DECLINE, from })
  await settle()
  await clock.pass(50_000)
  const { status, request_id = '' } = (await asking).structuredContent ?? {}
  expect(status).toBe('waiting')
  await decide(host.inbox, request_id)
  expect(textOf(await send(client, { reply: DECLINE, from }))).toBe(ANSWERED)
})

test('and sent again before that, waits on, and leaves what it was told of when it is given up', async () => {
  const clock = new HeldClock()
  const host = await offer(BY_ITSELF, { clock })
  const client = await carrying(host)
  const from = await send(client)
  const asking = send(client, { reply: DECLINE, from })
  await settle()
  await clock.pass(50_000)
  await asking
  const controller = new AbortController()
  const again = send(client, { reply: DECLINE, from, signal: controller.signal }).catch(() => 'gone')
  await settle()
  controller.abort()
  expect(await again).toBe('gone')
  await settle()
  const id = await onePending(host.inbox)
  const last = send(client, { reply: DECLINE, from })
  await settle()
  await decide(host.inbox, id)
  expect(textOf(await last)).toBe(ANSWERED)
})

test('a form that comes back after its pause has expired gets what the question has come to', async () => {
  const clock = new HeldClock()
  const host = await offer({}, { clock })
  const client = await carrying(host)
  const from = await send(client)
  await decide(host.inbox, await onePending(host.inbox))
  clock.skip(PAUSE_TTL_MS)
  expect(textOf(await send(client, { reply: DECLINE, from }))).toBe(ANSWERED)
})

test('and is shown again for the same question, when that waits still', async () => {
  const clock = new HeldClock()
  const host = await offer({}, { clock })
  const client = await carrying(host)
  const from = await send(client)
  const id = await onePending(host.inbox)
  clock.skip(PAUSE_TTL_MS)
  const again = await send(client, { reply: CHOICE, from })
  expect(JSON.stringify(again.inputRequests)).toContain('too late')
  expect(await pendingIn(host.inbox)).toEqual([id])
  expect(textOf(await send(client, { reply: CHOICE, from: again }))).toBe(ANSWERED)
  expect(await pendingIn(host.inbox)).toEqual([])
})

test('an answer that came back is kept before anything that would withdraw it, should the host be killed', async () => {
  const store = new WatchedStore()
  const host = await offer({}, { store })
  const client = await carrying(host)
  const from = await send(client)
  expect(textOf(await send(client, { reply: CHOICE, from }))).toBe(ANSWERED)
  expect(store.written).not.toContain('mcp-untold')
})
