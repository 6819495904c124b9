/** A place in the view of a session: behind the `n`th durable event, and the `k`th passing one after it. */
export interface ViewPosition {
  readonly n: number
  readonly k: number
}

/**
 * A cursor is opaque to clients. What passes by without being kept (deltas of a message) takes no number of its own, so
 * that a host that restarts never gives a durable event a cursor that a client has gone past.
 */
export function formatCursor(sessionId: string, { n, k }: ViewPosition): string {
  return `v:${sessionId}:${n}${k === 0 ? '' : `.${k}`}`
}

/** The place a cursor names; `foreign` when it is of another session, `malformed` when it is none. */
export function parseCursor(sessionId: string, cursor: string): ViewPosition | 'foreign' | 'malformed' {
  const [, of, n, k = '0'] = /^v:(.*):(\d{1,15})(?:\.(\d{1,15}))?$/su.exec(cursor) ?? []
  if (of === undefined) return 'malformed'
  return of === sessionId ? { n: Number(n), k: Number(k) } : 'foreign'
}
