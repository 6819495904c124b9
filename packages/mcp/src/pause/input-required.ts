import type { JsonValue } from '@handraise/inbox'
import { isBlank, type Issue } from '@handraise/user-questions/types'
import type { z } from 'zod'
import { PauseError } from './pause-error.ts'
import { whyUnanswerable } from './answerable.ts'
import type { Asked } from './asked.ts'
import { readField, readForm, type FieldSchema, type FormSchema, type SchemaReading } from './form-schema.ts'
import { isZod, schemaOfZod } from './schema-of-zod.ts'
import { asksForSecret } from './secret-field.ts'

/** The name of the one field of a form that was made of a bare schema. */
export const BARE_FIELD = 'answer'

interface Described {
  /** Tells requests of one call apart, and finds the answer. */
  readonly id: string
  /** What the person reads. */
  readonly message?: string | undefined
}

/** Asks for input by a form. Never for a password or another secret: MCP wants those asked by `kind: 'url'`. */
export interface FormRequest extends Described {
  readonly kind?: 'form' | undefined
  /**
   * What the answer must be: one field (`{ type: 'boolean' }`), a flat form (`{ type: 'object', properties }`), or either in
   * zod without refinements, transforms and whatever else a JSON schema of MCP does not say. One field reads back as its bare
   * value. A bare yes or no has no default of yes: some clients send it for a person who was not there. Default: the person agrees, or not.
   *
   * The length of a text counts characters (Unicode code points), as JSON Schema has it: so the client is told, and so its answer
   * is held to it. The zod of this package counts the same. What an old one, or a check of the handler's own, counts in UTF-16
   * units belongs into the handler, to `acceptedContent`, which has the last word.
   */
  readonly schema?: FieldSchema | FormSchema | z.ZodType | undefined
}

/** Asks the person to go to an address, such as one where they sign in. That they agree does not mean that they went. */
export interface UrlRequest extends Described {
  readonly kind: 'url'
  /** Begins with https:// or http://, and holds no user and password. Sent as `new URL(url).href`. */
  readonly url: string
}

/** Asks the client itself, with one of the other requests that MCP 2026-07-28 allows here; both are deprecated there. */
export interface ClientRequest {
  readonly id: string
  readonly method: 'sampling/createMessage' | 'roots/list'
  readonly params?: { readonly [name: string]: unknown } | undefined
}

export type InputRequest = FormRequest | UrlRequest | ClientRequest

export interface InputRequiredSpec {
  /** At least one, each with an id of its own. */
  readonly requests: readonly InputRequest[]
  /**
   * Plain data that `ctx.requestState` holds when the handler runs again: what the person was asked about, for the handler to
   * act on, and not on what it finds by then. The client carries it and cannot read it. At most 370,000 bytes with the rest.
   */
  readonly requestState?: unknown
  /** What the person reads before the first request. */
  readonly message?: string | undefined
}

const BRAND = Symbol.for('handraise.inputRequired')

/** What `inputRequired` returns, for a handler to return. */
export interface InputRequired {
  readonly [BRAND]: true
  readonly asked: readonly Asked[]
  readonly requestState: JsonValue | undefined
}

/**
 * Pauses a tool, a prompt or a resource that was registered with `Pauses` until the person has answered: return what this
 * returns. The handler then runs again from its top, and finds the answer with `acceptedContent`.
 *
 * Nobody is asked twice: when a handler asks for an id again that was declined or dismissed, or asks the very same that was
 * answered, the call ends and says so. An answer that does not fit is asked for again by itself, with the reason, and the
 * third one ends the call.
 *
 * Throws `PauseError` `BAD_INPUT_REQUEST` for what no client could be asked.
 */
export function inputRequired(spec: InputRequiredSpec): InputRequired {
  return inputRequiredBy(spec, asksForSecret)
}

/** The same, for a form of which its maker knows better which of its fields ask for a secret. */
export function inputRequiredBy(
  { requests, requestState, message }: InputRequiredSpec,
  isSecret: typeof asksForSecret,
): InputRequired {
  const issues: Issue[] = []
  if (requests.length === 0) issues.push({ path: 'requests', message: 'asks for nothing' })
  const asked = requests.flatMap((request, index): Asked[] => {
    const path = `requests[${index}]`
    const faults = faultsOfId(request.id, requests.slice(0, index))
    const reading = toAsked(request, index === 0 ? message : undefined, isSecret)
    if (!reading.ok) faults.push(...reading.issues)
    issues.push(...faults.map(each => ({ ...each, path: `${path}.${each.path}` })))
    return reading.ok ? [reading.schema] : []
  })
  const state = plain(requestState, 'requestState')
  if (!state.ok) issues.push(...state.issues)
  if (issues.length > 0 || !state.ok) throw new PauseError('BAD_INPUT_REQUEST', { issues })
  return { [BRAND]: true, asked, requestState: state.schema }
}

export function isInputRequired(value: unknown): value is InputRequired {
  return typeof value === 'object' && value !== null && BRAND in value
}

function faultsOfId(id: string, before: readonly InputRequest[]): Issue[] {
  if (isBlank(id)) return [{ path: 'id', message: 'must not be blank' }]
  // The official server loses an answer of this name.
  if (id === '__proto__') return [{ path: 'id', message: 'cannot be carried' }]
  return before.some(other => other.id === id)
    ? [{ path: 'id', message: `${JSON.stringify(id)} is the id of two requests` }]
    : []
}

function toAsked(
  request: InputRequest,
  lead: string | undefined,
  isSecret: typeof asksForSecret,
): SchemaReading<Asked> {
  const { id } = request
  if ('method' in request) {
    const params = plain(request.params, 'params')
    if (!params.ok) return params
    const { method } = request
    return {
      ok: true,
      schema: {
        id,
        kind: 'client',
        method,
        ...(params.schema === undefined ? {} : { params: params.schema }),
      },
    }
  }
  const texts = [lead, request.message].filter(text => !isBlank(text))
  const message = texts.length === 0 ? 'Your input is needed.' : texts.join('\n\n')
  if (request.kind === 'url') {
    const { url } = request
    if (!isWebAddress(url)) return fault('url', 'must be an address that begins with https:// or http://')
    const { href, username, password } = new URL(url)
    if (username !== '' || password !== '') return fault('url', 'must hold no user and password')
    return { ok: true, schema: { id, kind: 'url', message, url: href } }
  }
  const { schema } = request
  if (schema === undefined)
    return {
      ok: true,
      schema: { id, kind: 'form', message, reads: 'consent', form: { type: 'object', properties: {} } },
    }
  const given = isZod(schema) ? schemaOfZod(schema) : { ok: true as const, schema }
  if (!given.ok) return given
  return toForm({ id, message }, given.schema, isSecret)
}

function toForm(
  told: { id: string; message: string },
  schema: unknown,
  isSecret: typeof asksForSecret,
): SchemaReading<Asked> {
  if (isForm(schema)) {
    if (hasProto(schema)) return fault('schema.properties.__proto__', 'cannot be carried')
    const reading = readForm(schema)
    if (!reading.ok) return reading
    const form = reading.schema
    const missing = form.required?.find(name => !Object.hasOwn(form.properties, name))
    if (missing !== undefined)
      return fault('schema.required', `names ${JSON.stringify(missing)}, which is no field`)
    const secret = Object.entries(form.properties).find(([name, field]) => isSecret(name, field))
    if (secret !== undefined) return fault(`schema.properties.${secret[0]}`, SECRET)
    for (const [name, field] of Object.entries(form.properties)) {
      const why = whyUnanswerable(field)
      if (why !== undefined) return fault(`schema.properties.${name}`, why)
    }
    return { ok: true, schema: { ...told, kind: 'form', reads: 'content', form } }
  }
  const reading = readField(schema)
  if (!reading.ok) return reading
  if (isSecret(told.id, reading.schema)) return fault('schema', SECRET)
  const why = whyUnanswerable(reading.schema)
  if (why !== undefined) return fault('schema', why)
  if (reading.schema.type === 'boolean' && reading.schema.default === true)
    return fault('schema.default', 'would be a yes of nobody: some clients send it unasked')
  const form: FormSchema = {
    type: 'object',
    properties: { [BARE_FIELD]: reading.schema },
    required: [BARE_FIELD],
  }
  return { ok: true, schema: { ...told, kind: 'form', reads: 'value', form } }
}

function hasProto(schema: object): boolean {
  const properties: unknown = Reflect.get(schema, 'properties')
  return typeof properties === 'object' && properties !== null && Object.hasOwn(properties, '__proto__')
}

function isForm(schema: unknown): schema is object {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'object'
}

// MCP, Elicitation: servers must not ask for secrets in form mode.
const SECRET = 'asks for a secret, which no form may; ask with kind "url", for a page where it is given'

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/u.test(new URL(url).protocol)
}

function plain(value: unknown, path: string): SchemaReading<JsonValue | undefined> {
  if (value === undefined) return { ok: true, schema: undefined }
  try {
    const text = JSON.stringify(value) as string | undefined
    if (text !== undefined) return { ok: true, schema: JSON.parse(text) as JsonValue }
    return fault(path, 'is no plain data')
  } catch (error) {
    return fault(path, `is no plain data: ${(error as Error).message}`)
  }
}

function fault(path: string, message: string): { ok: false; issues: readonly Issue[] } {
  return { ok: false, issues: [{ path, message }] }
}
