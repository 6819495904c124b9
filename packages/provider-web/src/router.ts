import type { Context, Hono } from 'hono'
import { HttpError } from './http-error.ts'

export type Handler = (c: Context) => Response | Promise<Response>

export type Method = 'GET' | 'HEAD' | 'POST'

/** Whether it is a path as a request names one, without a pattern in it. */
export function isPath(path: string): boolean {
  return /^\/[^?#:*{}\s]*$/u.test(path)
}

/** Serves a path by the methods given, and refuses the others. */
export function route(app: Hono, path: string, handlers: { readonly [M in Method]?: Handler }): void {
  const allowed = Object.keys(handlers).join(', ')
  app.all(path, c => {
    // Hono takes HEAD for GET, which would open an event stream that nobody reads.
    const handler = handlers[c.req.raw.method as Method]
    if (handler !== undefined) return handler(c)
    const { method } = c.req.raw
    throw new HttpError(
      'METHOD_NOT_ALLOWED',
      `${method} is not taken here; use ${allowed}`,
      {},
      { Allow: allowed },
    )
  })
}
