import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEvent, readServerRequest, type ServerRequest, type WireEvent } from '../src/client/event.ts'
import { foldListed, foldPending, NOTHING_PENDING, type PendingState } from '../src/client/pending-fold.ts'
import type { ApprovalRequestParams, UserInputRequestParams } from '../src/protocol/index.ts'
import {
  approval,
  approvalResolved,
  approvalUpdated,
  cursor,
  userInput,
  userInputSettled,
} from './client-prompts.ts'
import { isPublishedHere, PUBLISHED_MISSING, publishedTranscripts } from './published.ts'

const event = (method: string, params: object): WireEvent => readEvent(method, { ...params })
const asked = (request: ApprovalRequestParams): ServerRequest => ({
  method: 'approval/request',
  params: request,
})
const shown = (request: UserInputRequestParams): ServerRequest => ({
  method: 'userInput/request',
  params: request,
})

const fold = (
  events: readonly (WireEvent | ServerRequest)[],
  from: PendingState = NOTHING_PENDING,
): PendingState => events.reduce(foldPending, from)

const stages = ({ approvals }: PendingState): number[] =>
  approvals.map(({ currentRequirementId }) => currentRequirementId.sourceIndex)

describe('what is pending', () => {
  test('is what was asked and not settled, in the order in which it was opened', () => {
    const state = fold([
      event('approval/requested', approval('a-1', 1)),
      event('userInput/requested', userInput('u-1', 2)),
      event('approval/requested', approval('a-2', 3)),
      event('userInput/requested', userInput('u-2', 4)),
      event('approval/resolved', approvalResolved('a-1', 5)),
    ])
    expect(state.approvals).toEqual([approval('a-2', 3)])
    expect(state.userInputs).toEqual([userInput('u-1', 2), userInput('u-2', 4)])
    expect(state.settlements.get('a-1')).toEqual({ kind: 'approval', params: approvalResolved('a-1', 5) })
  })

  test('counts by the first end, and is not asked again after it', () => {
    const state = fold([
      event('userInput/requested', userInput('u-1', 1)),
      event('userInput/settled', userInputSettled('u-1', 2, 'answered')),
      event('userInput/settled', userInputSettled('u-1', 3, 'cancelled')),
      event('userInput/requested', userInput('u-1', 1)),
      shown(userInput('u-1', 1)),
      event('approval/resolved', approvalResolved('a-1', 4)),
      event('approval/requested', approval('a-1', 3)),
      asked(approval('a-1', 3)),
      event('approval/updated', approvalUpdated('a-1', 5, 1)),
    ])
    expect(state).toMatchObject({ approvals: [], userInputs: [] })
    expect(state.settlements.get('u-1')?.params).toMatchObject({ outcome: 'answered' })
  })

  test('is also what the host asks to be shown without an event', () => {
    const { sourceRange: _, ...bare } = userInput('u-1')
    const state = fold([shown(bare), asked(approval('a-1'))])
    expect(state.userInputs).toEqual([bare])
    expect(state.approvals).toEqual([approval('a-1')])
    expect(fold([event('userInput/requested', userInput('u-1'))], state).userInputs).toEqual([
      userInput('u-1'),
    ])
  })

  test('keeps where it came from when it is asked to be shown again', () => {
    const { sourceRange: _, ...bare } = userInput('u-1')
    const state = fold([
      event('userInput/requested', userInput('u-1')),
      shown({ ...bare, autoResolutionMs: 5 }),
    ])
    expect(state.userInputs).toEqual([{ ...userInput('u-1'), autoResolutionMs: 5 }])
  })

  test('goes on to the next requirement with an update, or when it is asked to be shown again', () => {
    const opened = event('approval/requested', { ...approval('a-1', 1), more: 1 })
    const updated = fold([opened, event('approval/updated', approvalUpdated('a-1', 2, 1))])
    expect(updated.approvals).toEqual([{ ...approval('a-1', 1, 1), more: 1 }])
    expect(stages(fold([asked(approval('a-1', 1, 2))], updated))).toEqual([2])
    expect(stages(fold([opened], updated))).toEqual([1])
  })

  test('is not made by an update of what is unknown', () => {
    const state = fold([event('approval/updated', approvalUpdated('a-1', 1, 1))])
    expect(state).toBe(NOTHING_PENDING)
  })

  test('is what the host lists, but for what has been settled', () => {
    const before = fold([
      event('approval/requested', approval('a-1', 1)),
      event('userInput/requested', userInput('u-1', 2)),
      event('userInput/settled', userInputSettled('u-2', 3)),
      event('approval/resolved', approvalResolved('a-3', 3)),
    ])
    const { sourceRange: _, ...bare } = userInput('u-1', 2)
    const state = foldListed(before, {
      approvals: [approval('a-0', 0), approval('a-3', 1), approval('a-2', 4)],
      userInputs: [bare, userInput('u-2', 1)],
    })
    expect(state.approvals.map(({ approvalId }) => approvalId)).toEqual(['a-0', 'a-2'])
    expect(state.userInputs).toEqual([userInput('u-1', 2)])
  })

  test('stays the same, to the identity, where nothing changes', () => {
    const state = fold([
      event('approval/requested', approval('a-1')),
      event('userInput/requested', userInput('u-1')),
    ])
    const same = fold(
      [
        event('approval/requested', approval('a-1')),
        asked(approval('a-1')),
        shown(userInput('u-1')),
        event('approval/updated', approvalUpdated('a-1', 3, 0)),
        event('view/gap', { sessionId: 's', after: cursor(1), next: cursor(2) }),
        event('item/ofTheFuture', {}),
      ],
      state,
    )
    expect(same).toBe(state)
    expect(foldListed(state, { approvals: [approval('a-1')], userInputs: [userInput('u-1')] })).toBe(state)
    const changed = fold([event('approval/resolved', approvalResolved('a-1', 5))], state)
    expect(changed.userInputs).toBe(state.userInputs)
    expect(state.approvals).toHaveLength(1)
  })

  test('forgets how the thousand and first before ended', () => {
    const ends = Array.from({ length: 1_001 }, (_, n) =>
      event('userInput/settled', userInputSettled(`u-${n}`, n)),
    )
    const { settlements } = fold(ends)
    expect([settlements.size, settlements.has('u-0'), settlements.has('u-1')]).toEqual([1_000, false, true])
  })

  test('is the same however often and in whatever order requests and ends come', () => {
    const ids = ['1', '2', '3']
    const any = fc.constantFrom(
      ...ids.flatMap(id => [
        event('approval/requested', approval(`a-${id}`)),
        asked(approval(`a-${id}`)),
        event('approval/resolved', approvalResolved(`a-${id}`, 9)),
        event('userInput/requested', userInput(`u-${id}`)),
        event('userInput/settled', userInputSettled(`u-${id}`, 9)),
      ]),
    )
    fc.assert(
      fc.property(fc.array(any, { maxLength: 30 }), events => {
        const state = fold(events)
        const has = (method: string, id: string): boolean =>
          events.some(each => each.method === method && Object.values(each.params).includes(id))
        for (const id of ids) {
          const isPending = state.approvals.some(({ approvalId }) => approvalId === `a-${id}`)
          const isAsked = has('approval/requested', `a-${id}`) || has('approval/request', `a-${id}`)
          expect(isPending).toBe(isAsked && !has('approval/resolved', `a-${id}`))
          const isShown = state.userInputs.some(({ userInputId }) => userInputId === `u-${id}`)
          expect(isShown).toBe(has('userInput/requested', `u-${id}`) && !has('userInput/settled', `u-${id}`))
        }
        const all = [...state.approvals, ...state.userInputs].map(({ itemId }) => itemId)
        expect(new Set(all).size).toBe(all.length)
      }),
    )
  })
})

test.runIf(isPublishedHere)(`every published transcript leaves nothing pending${PUBLISHED_MISSING}`, () => {
  const asks = publishedTranscripts().filter(({ frames }) =>
    frames.some(({ raw }) => raw.includes('/request"')),
  )
  expect(asks.length).toBeGreaterThan(5)
  for (const { name, frames } of asks) {
    const seen = frames
      .filter(({ dir }) => dir === 'server')
      .map(({ raw }) => JSON.parse(raw) as { id?: number; method?: string; params?: Record<string, unknown> })
      .flatMap(({ id, method, params = {} }) => {
        if (method === undefined) return []
        return [id === undefined ? readEvent(method, params) : readServerRequest(method, params)!]
      })
    const states = seen.map((_each, at) => fold(seen.slice(0, at + 1)))
    const pending = states.map(({ approvals, userInputs }) => approvals.length + userInputs.length)
    expect([name, Math.max(...pending), pending.at(-1)]).toEqual([name, 1, 0])
    expect(states.at(-1)?.settlements.size).toBe(1)
  }
})
