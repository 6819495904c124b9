import type { PublicRequest } from '@handraise/provider-web/client'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bySession,
  emptyInbox,
  reduceInbox,
  type InboxChange,
  type InboxState,
} from '../../page/src/inbox-state.ts'

const request = (number: number): PublicRequest => ({
  id: `r${number}`,
  kind: 'questions',
  openedAt: number,
  payload: {},
})
const settled = (number: number): PublicRequest => ({
  ...request(number),
  settlement: { outcome: 'answered', commandId: `c${number}`, settledAt: number, surface: 'web' },
})

const PAGE = 2

/** What a server holds, and what it said that has not arrived yet. */
class Server {
  private opened = 0
  private readonly pending: number[] = []
  private readonly ended: number[] = []

  open(): InboxChange {
    this.opened += 1
    this.pending.push(this.opened)
    return { type: 'changed', request: request(this.opened) }
  }

  settle(pick: number): { event: InboxChange; refusal: InboxChange } | undefined {
    const [number] = this.pending.splice(pick % Math.max(1, this.pending.length), 1)
    if (number === undefined) return undefined
    this.ended.push(number)
    const { settlement } = settled(number)
    return {
      event: { type: 'changed', request: settled(number) },
      refusal: { type: 'ended', id: `r${number}`, settlement: settlement! },
    }
  }

  list(limit: number): InboxChange {
    const shown = this.pending.slice(0, limit)
    const next = this.pending.length > limit ? String(shown.at(-1)) : undefined
    return { type: 'listed', requests: shown.map(request), next, aheadMs: 0 }
  }

  more(after: string, lists: number): InboxChange {
    const rest = this.pending.filter(number => number > Number(after))
    const shown = rest.slice(0, PAGE)
    const next = rest.length > PAGE ? String(shown.at(-1)) : undefined
    return { type: 'more', requests: shown.map(request), next, after, lists }
  }

  get ids() {
    return this.pending.map(number => `r${number}`)
  }

  get endedIds() {
    return this.ended.map(number => `r${number}`)
  }
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('open' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('settle' as const), pick: fc.nat(20) }) },
  // The stream breaks: what it had not delivered is lost, and the list is taken anew.
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reconnect' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('more' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('deliver' as const), count: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('arrive' as const), pick: fc.nat(5) }) },
)

/** Runs a history: events arrive in their order, answers to other calls at any time. */
function run(before: number, steps: ReadonlyArray<typeof step extends fc.Arbitrary<infer T> ? T : never>) {
  const server = new Server()
  for (let opened = 0; opened < before; opened += 1) server.open()
  let state: InboxState = emptyInbox
  let stream: InboxChange[] = [server.list(PAGE)]
  const calls: InboxChange[] = []
  const everEnded = new Set<string>()
  const take = (change: InboxChange): void => {
    state = reduceInbox(state, change)
    if (change.type === 'changed' && change.request.settlement !== undefined) everEnded.add(change.request.id)
    if (change.type === 'ended') everEnded.add(change.id)
    // What the page was told to be settled is never shown again.
    for (const { id } of state.pending ?? []) expect(everEnded.has(id)).toBe(false)
    const ids = (state.pending ?? []).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  }
  for (const each of steps) {
    if (each.do === 'open') stream.push(server.open())
    else if (each.do === 'settle') {
      const ended = server.settle(each.pick)
      if (ended === undefined) continue
      stream.push(ended.event)
      if (each.pick % 3 === 0) calls.push(ended.refusal)
    } else if (each.do === 'reconnect') {
      stream = [server.list(Math.max(PAGE, state.pending?.length ?? 0))]
    } else if (each.do === 'more') {
      if (state.next !== undefined) calls.push(server.more(state.next, state.lists))
    } else if (each.do === 'deliver') {
      for (const change of stream.splice(0, each.count)) take(change)
    } else {
      const [call] = calls.splice(each.pick % Math.max(1, calls.length), 1)
      if (call !== undefined) take(call)
    }
  }
  // In the end all arrives, and the person goes on to the end of the list.
  for (const change of stream.splice(0)) take(change)
  for (const call of calls.splice(0)) take(call)
  for (let turn = 0; state.next !== undefined && turn < 100; turn += 1)
    take(server.more(state.next, state.lists))
  return { server, state }
}

describe('however lists, events and refusals come in between each other', () => {
  test('nothing that was settled is shown again, and nothing that is pending is lost', () => {
    fc.assert(
      fc.property(fc.nat(8), fc.array(step, { maxLength: 40 }), (before, steps) => {
        const { server, state } = run(before, steps)
        expect((state.pending ?? []).map(({ id }) => id)).toEqual(server.ids)
      }),
      { numRuns: 2_000 },
    )
  })
})

test('a list that was taken before the end of a request does not revive it', () => {
  const server = new Server()
  server.open()
  const old = server.list(PAGE)
  const { event } = server.settle(0)!
  let state = reduceInbox(emptyInbox, server.list(PAGE))
  state = reduceInbox(state, event)
  state = reduceInbox(state, old)
  expect(state.pending).toEqual([])
  expect(state.ended.has('r1')).toBe(true)
})

test('the history has each settled request once, the latest first, and what is settled while it is shown comes on top', () => {
  let state = reduceInbox(emptyInbox, {
    type: 'history',
    requests: [settled(2), settled(1)],
    next: '1',
    first: true,
  })
  state = reduceInbox(state, { type: 'changed', request: settled(3) })
  state = reduceInbox(state, { type: 'changed', request: settled(3) })
  state = reduceInbox(state, { type: 'history', requests: [settled(1), settled(0)], first: false })
  expect(state.history?.map(({ id }) => id)).toEqual(['r3', 'r2', 'r1', 'r0'])
  expect(state.historyNext).toBeUndefined()
})

test('what is kept of endings and of the history is bounded', () => {
  let state = reduceInbox(emptyInbox, { type: 'history', requests: [], first: true })
  for (let number = 0; number < 5_000; number += 1)
    state = reduceInbox(state, { type: 'changed', request: settled(number) })
  expect(state.ended.size).toBeLessThanOrEqual(2_000)
  expect(state.history!.length).toBeLessThanOrEqual(500)
})

test('sessions stand in the order of their oldest request', () => {
  const of = (number: number, session?: string) => ({
    ...request(number),
    ...(session === undefined ? {} : { session }),
  })
  expect(
    bySession([of(1, 'b'), of(2), of(3, 'a'), of(4, 'b')]).map(([name, group]) => [
      name,
      group.map(({ id }) => id),
    ]),
  ).toEqual([
    ['b', ['r1', 'r4']],
    ['', ['r2']],
    ['a', ['r3']],
  ])
})
