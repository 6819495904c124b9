const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** True of what `fetch` of Node rejects with when no connection was made, so that nothing was sent. A browser does not tell. */
export function wasNotSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return false
  // A port that `fetch` calls nowhere.
  if (!('code' in cause)) return cause.message === 'bad port'
  const code = String(cause.code)
  // Nothing is sent to a server before its certificate was checked.
  return NOT_CONNECTED.has(code) || /CERT|^ERR_(?:TLS|SSL)_/u.test(code)
}
