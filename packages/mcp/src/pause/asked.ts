import type { JsonValue } from '@handraise/inbox'
import type { InputRequests, InputRequest as WireRequest } from '@modelcontextprotocol/server'
import { visibleText } from '@handraise/user-questions/types'
import { z } from 'zod'
import { formSchema, type FormSchema } from './form-schema.ts'
import { toRequestedSchema } from './requested-schema.ts'

/** What was asked for, as the sealed state keeps it, so that an answer can be held to it. */
export type Asked =
  | {
      readonly kind: 'form'
      readonly id: string
      readonly message: string
      readonly form: FormSchema
      /** The form's content, the value of its one field, or that the person agreed. */
      readonly reads: 'content' | 'value' | 'consent'
    }
  | { readonly kind: 'url'; readonly id: string; readonly message: string; readonly url: string }
  | {
      readonly kind: 'client'
      readonly id: string
      readonly method: 'sampling/createMessage' | 'roots/list'
      readonly params?: JsonValue | undefined
    }

const told = { id: z.string(), message: z.string() }

export const askedSchema: z.ZodType<Asked> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('form'),
    ...told,
    form: formSchema,
    reads: z.enum(['content', 'value', 'consent']),
  }),
  z.object({ kind: z.literal('url'), ...told, url: z.string() }),
  z.object({
    kind: z.literal('client'),
    id: z.string(),
    method: z.enum(['sampling/createMessage', 'roots/list']),
    params: z.json().optional(),
  }),
])

/** The embedded requests of a result (MCP 2026-07-28, `InputRequiredResult.inputRequests`), each below its note. What a
 * person reads is written out where a terminal would obey it; what was sealed stays as it is. */
export function toInputRequests(asked: readonly Asked[], notes: ReadonlyMap<string, string>): InputRequests {
  return Object.fromEntries(asked.map(each => [each.id, toWire(each, notes.get(each.id))]))
}

function toWire(asked: Asked, note: string | undefined): WireRequest {
  if (asked.kind === 'client') {
    const { method, params } = asked
    return { method, ...(params === undefined ? {} : { params }) } as WireRequest
  }
  const message = visibleText(note === undefined ? asked.message : `${note}\n\n${asked.message}`)
  if (asked.kind === 'url')
    return { method: 'elicitation/create', params: { mode: 'url', message, url: asked.url } } as WireRequest
  const params = { mode: 'form', message, requestedSchema: toRequestedSchema(asked.form) }
  return { method: 'elicitation/create', params } as WireRequest
}
