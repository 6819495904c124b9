import type { PublicRequest, PublicSettlement } from '@handraise/provider-web/client'

/** What the page knows of the inbox. */
export interface InboxState {
  /** Absent until the first list came. */
  readonly pending?: readonly PublicRequest[] | undefined
  /** How many times it was listed anew. */
  readonly lists: number
  /** Where the list goes on: more is pending than was loaded. */
  readonly next?: string | undefined
  /** What was opened while more was pending than is loaded: it follows when all is. */
  readonly beyond: readonly PublicRequest[]
  /** What was settled while the page looked. An older list, or an event told again, revives none of these. */
  readonly ended: ReadonlyMap<string, PublicSettlement>
  readonly history?: readonly PublicRequest[] | undefined
  readonly historyNext?: string | undefined
  /** How far the server's clock is ahead of this one, in milliseconds. */
  readonly aheadMs: number
}

export type InboxChange =
  /** The list anew, from its beginning. */
  | {
      readonly type: 'listed'
      readonly requests: readonly PublicRequest[]
      readonly next?: string | undefined
      readonly aheadMs: number
    }
  | {
      readonly type: 'more'
      /** Where the list went on from. It is dropped when the list has moved on since, or was taken anew. */
      readonly after: string
      /** Which list it goes on with. */
      readonly lists: number
      readonly requests: readonly PublicRequest[]
      readonly next?: string | undefined
    }
  | { readonly type: 'changed'; readonly request: PublicRequest }
  /** Settled, as a refusal told. */
  | { readonly type: 'ended'; readonly id: string; readonly settlement: PublicSettlement }
  | {
      readonly type: 'history'
      readonly requests: readonly PublicRequest[]
      readonly next?: string | undefined
      readonly first: boolean
    }

export const emptyInbox: InboxState = { lists: 0, beyond: [], ended: new Map(), aheadMs: 0 }

/** How many endings are remembered: far more than come while one list is on its way. */
const MOST_ENDED = 2_000
/** How many openings are kept for the end of a long list: more than come while a part of it is on its way. */
const MOST_BEYOND = 1_000
/** How many settled requests are added to the history by themselves before the oldest are left to `Show more`. */
const MOST_HISTORY = 500

export function reduceInbox(state: InboxState, change: InboxChange): InboxState {
  switch (change.type) {
    case 'listed': {
      const { requests, next, aheadMs } = change
      // What was opened while the list was on its way is told after it.
      const lists = state.lists + 1
      return { ...state, lists, pending: alive(state, requests), next, beyond: [], aheadMs }
    }
    case 'more': {
      const { after, next } = change
      if (after !== state.next || change.lists !== state.lists) return state
      const known = new Set(state.pending?.map(({ id }) => id))
      const added = new Map<string, PublicRequest>()
      const loaded = next === undefined ? [...change.requests, ...state.beyond] : change.requests
      for (const request of alive(state, loaded)) if (!known.has(request.id)) added.set(request.id, request)
      const pending = [...(state.pending ?? []), ...added.values()]
      return { ...state, pending, next, beyond: next === undefined ? [] : state.beyond }
    }
    case 'changed': {
      const { request } = change
      if (request.settlement !== undefined) return end(state, request, request.settlement)
      return state.ended.has(request.id) ? state : put(state, request)
    }
    case 'ended': {
      const request = state.pending?.find(({ id }) => id === change.id)
      return end(state, request ?? { id: change.id }, change.settlement)
    }
    case 'history': {
      const { requests, next, first } = change
      const before = first ? [] : (state.history ?? [])
      const known = new Set(before.map(({ id }) => id))
      return {
        ...state,
        history: [...before, ...requests.filter(({ id }) => !known.has(id))],
        historyNext: next,
      }
    }
  }
}

function alive({ ended }: InboxState, requests: readonly PublicRequest[]): PublicRequest[] {
  return requests.filter(({ id, settlement }) => settlement === undefined && !ended.has(id))
}

// The newest are last; while older ones wait to be loaded, it comes after them.
function put(state: InboxState, request: PublicRequest): InboxState {
  const { pending = [], beyond, next } = state
  const at = pending.findIndex(({ id }) => id === request.id)
  if (at >= 0) return { ...state, pending: pending.with(at, request) }
  if (next === undefined) return { ...state, pending: [...pending, request] }
  const others = beyond.filter(({ id }) => id !== request.id)
  return { ...state, beyond: [...others, request].slice(-MOST_BEYOND) }
}

function end(
  state: InboxState,
  request: PublicRequest | { readonly id: string },
  settlement: PublicSettlement,
): InboxState {
  const ended = new Map(state.ended)
  ended.delete(request.id)
  ended.set(request.id, settlement)
  const [oldest] = ended.keys()
  if (ended.size > MOST_ENDED && oldest !== undefined) ended.delete(oldest)
  const pending = state.pending?.filter(({ id }) => id !== request.id)
  const { history } = state
  if (history === undefined || !('kind' in request)) return { ...state, ended, pending }
  const settled = { ...request, settlement }
  const others = history.filter(({ id }) => id !== request.id)
  return { ...state, ended, pending, history: [settled, ...others].slice(0, MOST_HISTORY) }
}

/** Requests by session, sessions in the order of their oldest request. */
export function bySession(
  requests: readonly PublicRequest[],
): ReadonlyArray<readonly [session: string, requests: readonly PublicRequest[]]> {
  const groups = new Map<string, PublicRequest[]>()
  for (const request of requests) {
    const session = request.session?.trim() ?? ''
    const group = groups.get(session)
    if (group === undefined) groups.set(session, [request])
    else group.push(request)
  }
  return [...groups]
}
