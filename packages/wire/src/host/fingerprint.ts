import { createHash } from 'node:crypto'
import { canonicalJson } from '@handraise/user-questions/types'
import { z } from 'zod'
import * as protocol from '../protocol/index.ts'

let made: string | undefined

/**
 * `sha256:` and 64 hexadecimal digits over the JSON Schemas of all shapes: the same for the same shapes, another as soon as
 * one changes. It is not the hash of another host; a client that expects one warns and goes on.
 */
export function schemaFingerprint(): string {
  made ??= `sha256:${createHash('sha256').update(canonicalJson(schemasOfAll())).digest('hex')}`
  return made
}

function schemasOfAll(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(protocol).flatMap(([name, each]) =>
      each instanceof z.ZodType ? [[name, z.toJSONSchema(each)]] : [],
    ),
  )
}
