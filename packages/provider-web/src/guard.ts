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

const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
}

/** Puts on every response, refusals included, what keeps a browser from doing anything with it. */
export function securityHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next()
    for (const [name, value] of Object.entries(HEADERS))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value)
  }
}

/**
 * Refuses a request made under a name that is not this server's, which is how a page of another site reaches a loopback
 * server through DNS, and a request made by a page of another origin.
 */
export function checkHostAndOrigin({
  allowedHosts = [],
  allowedOrigins = [],
}: GuardOptions): MiddlewareHandler {
  const hosts = new Set(allowedHosts.map(host => host.toLowerCase()))
  const origins = new Set(allowedOrigins.map(origin => new URL(origin).origin))
  return async (c, next) => {
    const url = new URL(c.req.url)
    const host = (c.req.header('host') ?? url.host).toLowerCase()
    const [, name = '', port] = /^(\[[0-9a-f:.]+\]|[^:[\]@/?#\s]+)(?::(\d{1,5}))?$/u.exec(host) ?? []
    const known = name !== '' && (isLoopback(name) || hosts.has(host) || hosts.has(name))
    if (!known || Number(port ?? 0) > 65_535) {
      throw new HttpError(
        'FORBIDDEN_HOST',
        `this server does not go by the name ${JSON.stringify(host)}; reach it by its own, or allow that one`,
      )
    }
    const origin = c.req.header('origin')
    if (origin !== undefined && origin !== `${url.protocol}//${host}` && !origins.has(origin)) {
      throw new HttpError('FORBIDDEN_ORIGIN', `pages of ${JSON.stringify(origin)} may not call this server`)
    }
    await next()
  }
}

/** Lets only those pass who hold the token, as `Authorization: Bearer`. A query or a cookie is not looked at. */
export function requireToken(token: string): MiddlewareHandler {
  if (!/^[\x21-\x7e]{16,}$/u.test(token))
    throw new TypeError('the token must be at least 16 characters of printable ASCII without spaces')
  const expected = digest(token)
  return async (c, next) => {
    const [, given] = /^bearer +(\S+)$/iu.exec(c.req.header('authorization') ?? '') ?? []
    // Digests are of one length, so that how long the comparison takes tells nothing of the token.
    if (given === undefined || !timingSafeEqual(digest(given), expected)) {
      throw new HttpError(
        'UNAUTHORIZED',
        given === undefined
          ? 'send the token of this server as Authorization: Bearer'
          : 'this is not the token of this server',
        {},
        { 'WWW-Authenticate': 'Bearer' },
      )
    }
    await next()
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
