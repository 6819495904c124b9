import { hostname } from 'node:os'
import { MemoryStore, type InboxStore, type JsonValue, type RecordWrite } from '@handraise/inbox'
import { describe, expect, test, vi } from 'vitest'
import { Ledger, type PauseOutcome } from '../src/pause/ledger.ts'
import { TestClock } from './pause-scene.ts'

const HOUR_MS = 60 * 60 * 1_000
const CLAIMS = 'mcp-pauses'
const PRUNED = 'mcp-pauses-pruned'
const DONE: PauseOutcome = { kind: 'result', result: 'done' }
const never = new AbortController().signal

/** One process with a store, and what it did. */
function host(store: InboxStore, clock = new TestClock(), patienceMs = 100) {
  const done: string[] = []
  const reported: unknown[] = []
  const ledger = new Ledger({ store, clock, patienceMs, report: error => reported.push(error) })
  const redeem = (pause: string, expiresAt = clock.now() + HOUR_MS) =>
    ledger.redeem(
      pause,
      expiresAt,
      async () => {
        done.push(pause)
        return DONE
      },
      never,
    )
  return { ledger, redeem, done, reported, clock }
}

/** A store that does something else first, once, when this is written to a namespace. */
function interrupted(store: InboxStore, namespace: string, first: () => Promise<unknown>): InboxStore {
  const writeRecords = store.writeRecords.bind(store)
  let left = true
  store.writeRecords = async (writes: readonly RecordWrite[]) => {
    if (left && writes.some(write => write.namespace === namespace)) {
      left = false
      await first()
    }
    return await writeRecords(writes)
  }
  return store
}

const write = (store: InboxStore, namespace: string, key: string, value: JsonValue) =>
  store.writeRecords([{ namespace, key, value }])

const claimedBy = (by: object, expiresAt: number): JsonValue => ({
  expiresAt,
  at: expiresAt - HOUR_MS,
  by: { host: hostname(), pid: process.pid, start: 'an earlier one', ...by },
})

describe('a pause that was claimed', () => {
  test('and forgotten by others since it was looked for is not done', async () => {
    const store = new MemoryStore()
    const clock = new TestClock()
    const expiresAt = clock.now() + HOUR_MS
    const forget = () => write(store, PRUNED, 'up-to', { upTo: expiresAt })
    const { redeem, done } = host(interrupted(store, CLAIMS, forget), clock)
    expect(await redeem('p', expiresAt)).toBeUndefined()
    expect(done).toEqual([])
    expect(await redeem('q', expiresAt + 1)).toEqual(DONE)
  })

  test('and is forgotten while somebody waits for it is not waited for any longer', async () => {
    const store = new MemoryStore()
    const { ledger, clock } = host(store)
    await write(store, CLAIMS, 'p', claimedBy({ host: 'elsewhere' }, clock.now()))
    const waiting = ledger.outcomeOf('p', never)
    await vi.waitFor(() => expect(clock.waiting).toBe(1))
    await write(store, CLAIMS, 'p', null)
    clock.pass(50)
    expect(await waiting).toBeUndefined()
    expect(clock.waiting).toBe(0)
  })

  test.each([
    ['an earlier process of this number', {}, true],
    ['a process that is gone', { pid: 2 ** 30 }, true],
    ['a process of another machine, of which nobody knows', { host: 'elsewhere', pid: 2 ** 30 }, false],
    ['a process that runs', { pid: process.ppid }, false],
  ])('by %s is lost or not', async (_, by, isLost) => {
    const store = new MemoryStore()
    const { ledger, clock } = host(store)
    await write(store, CLAIMS, 'p', claimedBy(by, clock.now()))
    expect(await ledger.isLost('p')).toBe(isLost)
    let told = false
    const waiting = ledger.outcomeOf('p', never).finally(() => (told = true))
    if (!isLost)
      for (let poll = 0; poll < 2; poll += 1) {
        await vi.waitFor(() => expect(clock.waiting).toBe(1))
        expect(told).toBe(false)
        clock.pass(50)
      }
    expect(await waiting).toBeUndefined()
    await write(store, 'mcp-pause-outcomes', 'p', DONE)
    expect(await ledger.isLost('p')).toBe(false)
  })

  test('in this process is waited for however long that takes', async () => {
    const { ledger, clock } = host(new MemoryStore(), new TestClock(), 0)
    let end = (_: PauseOutcome): void => {}
    const work = () => new Promise<PauseOutcome>(resolve => (end = resolve))
    const redeeming = ledger.redeem('p', clock.now() + HOUR_MS, work, never)
    const waiting = ledger.outcomeOf('p', never)
    await new Promise(setImmediate)
    end(DONE)
    expect(await Promise.all([redeeming, waiting])).toEqual([DONE, DONE])
  })

  test('by nobody is not lost', async () => {
    expect(await host(new MemoryStore()).ledger.isLost('p')).toBe(false)
  })
})

describe('what is forgotten', () => {
  const kept = async (store: InboxStore) => (await store.records(CLAIMS)).map(({ key }) => key).toSorted()

  test('is never what cannot be read', async () => {
    const store = new MemoryStore()
    const { redeem, clock } = host(store)
    await write(store, CLAIMS, 'old', claimedBy({}, clock.now() - 2 * HOUR_MS))
    await write(store, CLAIMS, 'of a later version', { until: 'the end' })
    await redeem('new')
    await vi.waitFor(async () => expect(await kept(store)).toEqual(['new', 'of a later version']))
  })

  test.each(['ahead', 'ahead in the same moment'])('stays so when another process is %s', async when => {
    const store = new MemoryStore()
    const clock = new TestClock()
    const upTo = clock.now() - HOUR_MS / 2
    const ahead = () => write(store, PRUNED, 'up-to', { upTo })
    if (when === 'ahead') await ahead()
    else interrupted(store, PRUNED, ahead)
    const { redeem, ledger } = host(store, clock)
    await write(store, CLAIMS, 'old', claimedBy({}, clock.now() - 2 * HOUR_MS))
    await redeem('new')
    await vi.waitFor(async () => expect(await kept(store)).toEqual(['new']))
    expect(await ledger.prunedUpTo()).toBe(upTo)
  })

  test('is marked all the same when another process that is behind marks in the same moment', async () => {
    const store = new MemoryStore()
    const clock = new TestClock()
    interrupted(store, PRUNED, () => write(store, PRUNED, 'up-to', { upTo: 1 }))
    const { redeem, ledger } = host(store, clock)
    await write(store, CLAIMS, 'old', claimedBy({}, clock.now() - 2 * HOUR_MS))
    await redeem('new')
    await vi.waitFor(async () => expect(await kept(store)).toEqual(['new']))
    expect(await ledger.prunedUpTo()).toBe(clock.now() - HOUR_MS)
  })

  test('holds up no answer when it cannot be looked through, and that is reported', async () => {
    const store = new MemoryStore()
    store.records = () => Promise.reject(new Error('the disk is gone'))
    const { redeem, reported } = host(store)
    expect(await redeem('p')).toEqual(DONE)
    await vi.waitFor(() => expect(reported).toEqual([new Error('the disk is gone')]))
  })
})
