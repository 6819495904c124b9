import { createHash, timingSafeEqual } from 'node:crypto'
import { localhostAllowedHostnames, validateHostHeader } from '@modelcontextprotocol/server'
import { refuse } from './endpoint-stream.ts'

export interface EndpointGuardOptions {
  /** What clients must send as `Authorization: Bearer`: 16 characters or more of printable ASCII without spaces. */
  readonly token: string
  /** Names, without a port, under which the server is reached besides loopback ones. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Origins, such as `https://desk.example`, whose pages may call the server besides its own. */
  readonly allowedOrigins?: readonly string[] | undefined
}

/**
 * What refuses a request that was made under another name than this server's (403), by a page of another origin (403), or
 * without the token (401), and lets others pass. MCP 2026-07-28, Transports: servers must look at `Origin`, against pages that
 * reach a loopback server through DNS. Throws `TypeError` for a token that could be guessed.
 */
export function endpointGuard({
  token,
  allowedHosts = [],
  allowedOrigins = [],
}: EndpointGuardOptions): (request: Request) => Response | undefined {
  if (!/^[\x21-\x7e]{16,}$/u.test(token))
    throw new TypeError('the token must be at least 16 characters of printable ASCII without spaces')
  const expected = digest(token)
  const hosts = [...localhostAllowedHostnames(), ...allowedHosts]
  const origins = new Set(allowedOrigins.map(origin => new URL(origin).origin))
  return ({ url, headers }) => {
    const host = headers.get('host') ?? new URL(url).host
    const origin = headers.get('origin')
    const named = validateHostHeader(host, hosts)
    if (!named.ok) return refuse(403, named.message)
    if (origin !== null && origin !== `http://${host.toLowerCase()}` && !origins.has(origin))
      return refuse(403, `pages of ${JSON.stringify(origin)} may not call this server`)
    const given = /^bearer +(\S+)$/iu.exec(headers.get('authorization') ?? '')?.[1]
    // Digests are of one length, so that how long the comparison takes tells nothing of the token.
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return undefined
    const message =
      given === undefined
        ? 'send the token of this server as Authorization: Bearer'
        : 'this is not the token of this server'
    return refuse(401, message, { headers: { 'WWW-Authenticate': 'Bearer' } })
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
