import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { HttpError } from './http-error.ts'
import { isLoopback } from './loopback.ts'

export interface GuardOptions {
  /** Names, with a port or for any port, under which the server is reached besides loopback ones. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Origins, such as `https://desk.example`, whose pages may call the server besides its own. */
  readonly allowedOrigins?: readonly string[] | undefined
}

/** What a request or an upgrade says of how it was made. */
export interface Approach {
  /** Its `Host`, as it came. */
  readonly host: string
  readonly origin: string | undefined
  /** How this server is reached itself: `http:`, or `https:`. */
  readonly protocol: string
}

/** What every response carries, refusals included, to keep a browser from doing anything with it. */
export const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
} as const

const TOKEN_SUBPROTOCOL = 'handraise.token.'

/**
 * A check that throws `FORBIDDEN_HOST` for a name that is not this server's, which is how a page of another site reaches
 * a loopback server through DNS, and `FORBIDDEN_ORIGIN` for a page of another origin.
 */
export function hostAndOriginCheck({
  allowedHosts = [],
  allowedOrigins = [],
}: GuardOptions): (approach: Approach) => void {
  const hosts = new Set(allowedHosts.map(host => host.toLowerCase()))
  const origins = new Set(allowedOrigins.map(origin => new URL(origin).origin))
  return ({ host: asGiven, origin, protocol }) => {
    const host = asGiven.toLowerCase()
    const [, name = '', port] = /^(\[[0-9a-f:.]+\]|[^:[\]@/?#\s]+)(?::(\d{1,5}))?$/u.exec(host) ?? []
    const known = name !== '' && (isLoopback(name) || hosts.has(host) || hosts.has(name))
    if (!known || Number(port ?? 0) > 65_535) {
      throw new HttpError(
        'FORBIDDEN_HOST',
        `this server does not go by the name ${JSON.stringify(host)}; reach it by its own, or allow that one`,
      )
    }
    if (origin !== undefined && origin !== `${protocol}//${host}` && !origins.has(origin))
      throw new HttpError('FORBIDDEN_ORIGIN', `pages of ${JSON.stringify(origin)} may not call this server`)
  }
}

/** A check that throws `UNAUTHORIZED` for what is not the token. The token itself must be hard to guess: `TypeError`. */
export function tokenCheck(token: string): (given: string | undefined) => void {
  if (!/^[\x21-\x7e]{16,}$/u.test(token))
    throw new TypeError('the token must be at least 16 characters of printable ASCII without spaces')
  const expected = digest(token)
  return given => {
    // Digests are of one length, so that how long the comparison takes tells nothing of the token.
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return
    throw new HttpError(
      'UNAUTHORIZED',
      given === undefined
        ? 'send the token of this server as Authorization: Bearer'
        : 'this is not the token of this server',
      {},
      { 'WWW-Authenticate': 'Bearer' },
    )
  }
}

/** What is given as the token in `Authorization`. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)$/iu.exec(authorization ?? '')?.[1]
}

/** What is given as the token among the subprotocols offered, the first such: a browser can set no other header. */
export function subprotocolToken(offered: string | undefined): string | undefined {
  return offered
    ?.split(',')
    .map(entry => entry.trim())
    .find(entry => entry.startsWith(TOKEN_SUBPROTOCOL))
    ?.slice(TOKEN_SUBPROTOCOL.length)
}

/** Puts the security headers on every response, refusals included. */
export function securityHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next()
    for (const [name, value] of Object.entries(SECURITY_HEADERS))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value)
  }
}

/** Lets only requests pass that were made under a name of this server, and by no page of another origin. */
export function checkHostAndOrigin(options: GuardOptions): MiddlewareHandler {
  const check = hostAndOriginCheck(options)
  return async (c, next) => {
    const { host, protocol } = new URL(c.req.url)
    check({ host: c.req.header('host') ?? host, origin: c.req.header('origin'), protocol })
    await next()
  }
}

/** Lets only those pass who hold the token, as `Authorization: Bearer`. A query or a cookie is not looked at. */
export function requireToken(token: string): MiddlewareHandler {
  const check = tokenCheck(token)
  return async (c, next) => {
    check(bearerToken(c.req.header('authorization')))
    await next()
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
