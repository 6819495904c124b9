import { keptToken } from './keep.ts'

/** What the page was opened with. */
export interface Address {
  readonly token: string
  /** The one request the page is about; absent: all of them. */
  readonly only?: string | undefined
}

/**
 * Reads the token out of the address and takes it away from there, so that it stays neither in what is seen and copied
 * nor in the browser's history.
 */
export function readAddress(): Address {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const token = fragment.get('token')
  if (token !== null && token !== '') {
    // Where the browser keeps nothing, the address is all that a reload has.
    if (keptToken.write(token)) {
      fragment.delete('token')
      const rest = fragment.toString()
      history.replaceState(null, '', `${location.pathname}${rest === '' ? '' : `#${rest}`}`)
    }
  }
  const only = fragment.get('request')
  return { token: token ?? keptToken.read(), ...(only === null || only === '' ? {} : { only }) }
}

/** Whether a text can be a token at all: anything else could not even be sent. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/u.test(text)
}

/** Where the server is: where the page is. */
export function serverUrl(): string {
  return new URL('.', location.href).href.replace(/[?#].*$/u, '')
}
