import { issuesOfZod } from '@handraise/user-questions/types'
import type { Context } from 'hono'
import type { z } from 'zod'
import { badRequest, HttpError } from './http-error.ts'
import { findExcess } from './limits.ts'

/** The body of a request, as a schema reads it. No more of it than `maxBytes` is ever taken in. */
export async function readBody<S extends z.ZodType>(
  c: Context,
  schema: S,
  maxBytes: number,
): Promise<z.output<S>> {
  const type = c.req.header('content-type') ?? ''
  if (!/^application\/json *(?:; *charset="?utf-8"?)?$/iu.test(type.trim())) {
    throw new HttpError('UNSUPPORTED_MEDIA_TYPE', 'send the body as application/json, in UTF-8')
  }
  const value = parseJson(await readBytes(c, maxBytes))
  const excess = findExcess(value)
  if (excess.length > 0) throw badRequest(excess)
  return parse(schema, value)
}

/** The query of a request, as a schema reads it. */
export function readQuery<S extends z.ZodType>(c: Context, schema: S): z.output<S> {
  return parse(schema, { ...c.req.query() })
}

export function parse<S extends z.ZodType>(schema: S, value: unknown, path: string[] = []): z.output<S> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw badRequest(issuesOfZod(parsed.error, path))
  return parsed.data
}

async function readBytes(c: Context, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): HttpError =>
    new HttpError('TOO_LARGE', `the body is larger than the ${maxBytes} bytes taken here`, { maxBytes })
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw tooLarge()
  const reader = c.req.raw.body?.getReader()
  if (reader === undefined) return new Uint8Array()
  const chunks: Uint8Array[] = []
  for (let size = 0; ;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks)
    size += value.byteLength
    if (size > maxBytes) {
      reader.cancel().catch(() => {})
      throw tooLarge()
    }
    chunks.push(value)
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw badRequest([{ path: '', message: `the body is not JSON: ${(error as Error).message}` }])
  }
}
