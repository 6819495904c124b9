import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import type { Inbox } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { systemClock, type Clock } from '@handraise/user-questions/types'
import type { Client } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { carrying, CHOICE, DECLINE, send, type Round } from './carried-form.ts'
import {
  ANSWERED,
  codeOf,
  decide,
  HeldClock,
  offer,
  onePending,
  pendingIn,
  QUESTIONS,
  settle,
  textOf,
  TOOL,
  type Offer,
} from './offer-scene.ts'

const GARBAGE = { action: 'accept', content: { db: 'MySQL' } }

/** Replies with what is no answer as often as it is asked again. */
async function replyInVain(client: Client): Promise<Round> {
  let round = await send(client)
  for (let count = 1; count < 3; count += 1) {
    round = await send(client, { reply: GARBAGE, from: round })
    expect(round.resultType).toBe('input_required')
  }
  return await send(client, { reply: GARBAGE, from: round })
}

/** Makes what the store holds of a process that runs what one that was killed has left there. */
async function forgetProcess(inbox: Inbox): Promise<void> {
  for (const { key, value } of await inbox.store.records('mcp-pauses')) {
    const claim = value as { by: object }
    const killed = { ...claim, by: { ...claim.by, start: 'before' } }
    await inbox.store.writeRecords([{ namespace: 'mcp-pauses', key, value: killed }])
  }
}

/** Two hosts on one database and one key, as one after the other. */
async function twoHosts(): Promise<[Offer, Offer]> {
  const directory = await mkdtemp(joinPath(tmpdir(), 'handraise-came-back-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = joinPath(directory, 'inbox.db')
  const config = { autoDeclineMs: 10_000, keyFile: `${file}.mcp-key` }
  const first = await offer(config, { store: await openSqliteStore({ file }) })
  return [first, await offer(config, { store: await openSqliteStore({ file }) })]
}

test('three replies that are no answer leave the question to the inbox, and the call waits', async () => {
  const host = await offer()
  const asking = replyInVain(await carrying(host))
  await expect.poll(async () => (await host.inbox.store.records('mcp-untold')).length).toBe(1)
  await decide(host.inbox, await onePending(host.inbox))
  expect(textOf(await asking)).toBe(ANSWERED)
  expect(await host.inbox.store.records('mcp-untold')).toEqual([])
})

test('and it returns with the id when nobody answers there in time', async () => {
  const clock = new HeldClock()
  const host = await offer({}, { clock })
  const asking = replyInVain(await carrying(host))
  await expect.poll(async () => (await host.inbox.store.records('mcp-untold')).length).toBe(1)
  await clock.pass(50_000)
  const [request_id] = await pendingIn(host.inbox)
  expect((await asking).structuredContent).toEqual({ status: 'waiting', request_id })
})

test('a client that goes when its form has come back leaves no card behind', async () => {
  const host = await offer({ autoDeclineMs: 10_000 })
  const client = await carrying(host)
  const from = await send(client)
  const controller = new AbortController()
  const asking = send(client, { reply: DECLINE, from, signal: controller.signal }).catch(() => 'gone')
  await expect.poll(async () => (await host.inbox.store.records('mcp-untold')).length).toBe(1)
  expect(await pendingIn(host.inbox)).toHaveLength(1)
  controller.abort()
  expect(await asking).toBe('gone')
  await expect.poll(() => pendingIn(host.inbox)).toEqual([])
})

test('but leaves one whose id it was told before', async () => {
  const clock = new HeldClock()
  const host = await offer({ autoDeclineMs: 10_000 }, { clock })
  const client = await carrying(host)
  const asking = send(client, { reply: DECLINE, from: await send(client) })
  await settle()
  await clock.pass(50_000)
  const { request_id = '' } = (await asking).structuredContent ?? {}
  const again = { name: TOOL, arguments: { request_id } }
  const round = (await client.callTool(again, { allowInputRequired: true })) as Round
  const controller = new AbortController()
  const reply = {
    ...again,
    inputResponses: { [Object.keys(round.inputRequests ?? {})[0] ?? '']: DECLINE },
    requestState: round.requestState,
  }
  const goingOn = client
    .callTool(reply, { allowInputRequired: true, signal: controller.signal })
    .catch(() => 'gone')
  await settle()
  controller.abort()
  expect(await goingOn).toBe('gone')
  await settle()
  expect(await pendingIn(host.inbox)).toEqual([request_id])
})

test('a form that came back to a process that is gone is taken up by the next one', async () => {
  const [first, second] = await twoHosts()
  const from = await send(await carrying(first))
  const asking = send(await carrying(first), { reply: DECLINE, from })
  await expect.poll(async () => (await first.inbox.store.records('mcp-untold')).length).toBe(1)
  await forgetProcess(first.inbox)
  const again = send(await carrying(second), { reply: DECLINE, from })
  await settle()
  await decide(second.inbox, await onePending(second.inbox))
  expect(textOf(await again)).toBe(ANSWERED)
  expect(textOf(await asking)).toBe(ANSWERED)
})

test('and gets there what the question has come to meanwhile', async () => {
  const [first, second] = await twoHosts()
  const from = await send(await carrying(first))
  // Its process ends before it can tell.
  const asking = send(await carrying(first), { reply: DECLINE, from }).catch(() => 'gone')
  await expect.poll(async () => (await first.inbox.store.records('mcp-untold')).length).toBe(1)
  await forgetProcess(first.inbox)
  const id = await onePending(first.inbox)
  await first.inbox.withdraw(id, 'orphaned')
  await asking
  for (const { key } of await first.inbox.store.records('mcp-pause-outcomes'))
    await first.inbox.store.writeRecords([{ namespace: 'mcp-pause-outcomes', key, value: null }])
  const again = await send(await carrying(second), { reply: DECLINE, from })
  expect(codeOf(again)).toBe('ASK_ABORTED')
})

const long = (bytes: number): object[] => [{ id: 'db', question: 'x'.repeat(bytes) }]

test('questions too large to be carried are answered in the inbox', async () => {
  const host = await offer()
  const asking = send(await carrying(host), { questions: long(190_000) })
  const id = await onePending(host.inbox)
  await expect.poll(async () => (await host.inbox.store.records('mcp-untold')).length).toBe(1)
  await host.inbox.decide(id, { outcome: 'declined' }, { commandId: 'c1', surface: 'page' })
  expect(codeOf(await asking)).toBe('ASK_DECLINED')
})

test('and so are those whose answers have grown too large', async () => {
  const host = await offer()
  const client = await carrying(host)
  const questions = [{ id: 'why', question: 'Why?' }, ...QUESTIONS]
  const from = await send(client, { questions })
  const content = { why: randomBytes(200_000).toString('hex'), db: 'SQLite', db__other: 'and another' }
  const asking = send(client, { questions, from, reply: { action: 'accept', content } })
  await expect.poll(async () => (await host.inbox.store.records('mcp-untold')).length).toBe(1)
  const id = await onePending(host.inbox)
  await host.inbox.decide(id, { outcome: 'declined' }, { commandId: 'c1', surface: 'page' })
  expect(codeOf(await asking)).toBe('ASK_DECLINED')
})

/** Time whose time of day is set back whenever it is told to, and whose timers run when they are told to. */
class SetBackClock implements Clock {
  private behindMs = 0
  private readonly timers = new Set<() => void>()

  now(): number {
    return systemClock.now() - this.behindMs
  }

  after(_: number, run: () => void): () => void {
    this.timers.add(run)
    return () => void this.timers.delete(run)
  }

  /** A person takes their time, in which the clock is set. */
  setBack(ms: number): void {
    this.behindMs += ms
    for (const run of this.timers) {
      this.timers.delete(run)
      run()
    }
  }
}

test('an answer counts as a person’s although the clock was set back meanwhile', async () => {
  const clock = new SetBackClock()
  const host = await offer({ autoDeclineMs: 300 }, { clock })
  const client = await carrying(host)
  const from = await send(client)
  clock.setBack(60_000)
  expect(textOf(await send(client, { reply: CHOICE, from }))).toBe(ANSWERED)
})
