import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import type { ProviderRequest } from '@handraise/user-questions/types'
import { expect, onTestFinished, test } from 'vitest'
import { ClientForms } from '../src/ask-tool-clients.ts'
import {
  ANSWERED,
  ask,
  decide,
  HeldClock,
  join,
  nobody,
  offer,
  onePending,
  pendingIn,
  settle,
  textOf,
} from './offer-scene.ts'
import type { Screen } from './provider-clients.ts'

const call = { callId: 'call-1' }

/** A database on disk, where opening a request takes longer than a turn. */
async function database(): Promise<string> {
  const directory = await mkdtemp(joinPath(tmpdir(), 'handraise-together-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return joinPath(directory, 'inbox.db')
}

/** A person who answers once they are told to; and how often they were shown a form, and had it taken away. */
function person() {
  let answer = (): void => {}
  const told = new Promise<void>(resolve => (answer = resolve))
  const forms = { shown: 0, takenDown: 0 }
  const screen: Screen = async (_, signal) => {
    forms.shown += 1
    signal.addEventListener('abort', () => (forms.takenDown += 1))
    await told
    return { action: 'accept', content: { db: 'SQLite' } }
  }
  return { screen, forms, answer: () => answer() }
}

test('a call that is sent twice at once has one form, which stays, and both get its answer', async () => {
  const host = await offer({}, { store: await openSqliteStore({ file: await database() }) })
  for (let round = 1; round <= 5; round += 1) {
    const { screen, forms, answer } = person()
    const client = await join(host, '2025', { screen })
    const twice = { callId: `call-${round}` }
    const asking = [ask(client, undefined, twice), ask(client, undefined, twice)]
    await onePending(host.inbox)
    await expect.poll(() => forms.shown).toBe(1)
    await settle()
    answer()
    expect((await Promise.all(asking)).map(textOf)).toEqual([ANSWERED, ANSWERED])
    expect(forms).toEqual({ shown: 1, takenDown: 0 })
  }
})

test('two calls at once for what a host before this one asked have one form as well', async () => {
  const file = await database()
  const clock = new HeldClock()
  const before = await offer({}, { store: await openSqliteStore({ file }), clock })
  const asking = ask(await join(before, '2025'))
  const request_id = await onePending(before.inbox)
  await expect.poll(() => clock.armed).toBeGreaterThan(2)
  await clock.pass(50_000)
  expect((await asking).structuredContent?.status).toBe('waiting')
  await before.dispose()
  const host = await offer({}, { store: await openSqliteStore({ file }) })
  const { screen, forms, answer } = person()
  const client = await join(host, '2025', { screen })
  const goingOn = [ask(client, { request_id }), ask(client, { request_id })]
  await expect.poll(() => forms.shown).toBe(1)
  answer()
  expect((await Promise.all(goingOn)).map(textOf)).toEqual([ANSWERED, ANSWERED])
  expect(forms).toEqual({ shown: 1, takenDown: 0 })
})

test('a call that is cancelled takes no form from another one that waits for it', async () => {
  const host = await offer()
  const { screen, forms, answer } = person()
  const client = await join(host, '2025', { screen })
  const given = new AbortController()
  const first = ask(client, undefined, { ...call, signal: given.signal }).catch(() => 'cancelled')
  await expect.poll(() => forms.shown).toBe(1)
  const second = ask(client, undefined, call)
  await settle()
  given.abort()
  expect(await first).toBe('cancelled')
  await settle()
  expect(forms.takenDown).toBe(0)
  answer()
  expect(textOf(await second)).toBe(ANSWERED)
})

test('the last of the calls for a form that is cancelled takes it down', async () => {
  const host = await offer()
  const { screen, up, down, count } = nobody()
  const client = await join(host, '2025', { screen })
  const given = [new AbortController(), new AbortController()]
  const asking = given.map(({ signal }) =>
    ask(client, undefined, { ...call, signal }).catch(() => 'cancelled'),
  )
  await up
  await settle()
  for (const controller of given) controller.abort()
  expect(await Promise.all(asking)).toEqual(['cancelled', 'cancelled'])
  await down
  expect(count()).toBe(1)
  // Whoever sends the call again finds it.
  expect(await pendingIn(host.inbox)).toHaveLength(1)
})

test('a dozen calls that wait are no leak to be warned of', async () => {
  const warnings: string[] = []
  const hear = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  const host = await offer()
  const client = await join(host, '2025')
  const asking = Array.from({ length: 12 }, (_, each) => ask(client, undefined, { callId: `call-${each}` }))
  await expect.poll(() => pendingIn(host.inbox)).toHaveLength(12)
  await settle()
  for (const id of await pendingIn(host.inbox)) await decide(host.inbox, id)
  await Promise.all(asking)
  await settle()
  expect(warnings).toEqual([])
})

/** One request as the inbox hands it to the clients. */
function handedOver(forms: ClientForms) {
  const controller = new AbortController()
  const request: ProviderRequest = {
    id: 'request',
    questions: [],
    signal: controller.signal,
    engaged: () => {},
  }
  const ended = forms.ask(request).catch((error: unknown) => error)
  return { ended, takeDown: () => controller.abort(new Error('taken down')) }
}

test('forms that are taken down to be handed over again are shown again, and are not lost', async () => {
  const forms = new ClientForms(() => {})
  let shown = 0
  const form = forms.show('request', 'client', () => {
    shown += 1
    return new Promise(() => {})
  })
  let isLost = false
  void form.lost.then(() => (isLost = true))
  forms.expect('request')
  const first = handedOver(forms)
  forms.expect('request')
  first.takeDown()
  await first.ended
  const second = handedOver(forms)
  await settle()
  expect([shown, isLost]).toEqual([2, false])
  // Now nobody hands it over any more.
  second.takeDown()
  await form.lost
})
