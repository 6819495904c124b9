import { pathOf, type Issue } from '@handraise/user-questions/types'
import { z } from 'zod'
import type { SchemaReading } from './form-schema.ts'

/** Checks that a JSON schema says as well, so that an answer that comes back later can be held to them. */
const SAID = new Set([
  'string_format',
  'min_length',
  'max_length',
  'length_equals',
  'greater_than',
  'less_than',
  'multiple_of',
  'number_format',
])
/** What a form is made of; whatever else zod has says more, or something else, than the JSON schema it becomes. */
const READ = new Set(['object', 'optional', 'default', 'string', 'number', 'boolean', 'enum', 'array'])
/** Formats whose check does more than their pattern. */
const BEYOND_PATTERN = new Set(['ipv6', 'cidrv6'])
const SENT_FORMATS = new Set(['email', 'uri', 'date', 'date-time'])

export function isZod(schema: object): schema is z.ZodType {
  return '_zod' in schema
}

/**
 * What a zod schema asks for, as a JSON schema. Refused are refinements, transforms, and every other check
 * that the JSON schema would not have: a process that reads the answer days
 * later has the JSON schema and nothing else. Such a schema belongs into the handler: `acceptedContent(responses, id, schema)`.
 * Bounds of a text's length are taken over as they are, and count characters, as JSON Schema and the zod of this package do.
 */
export function schemaOfZod(schema: z.ZodType): SchemaReading<unknown> {
  const issues: Issue[] = []
  findUnsaid(schema, ['schema'], issues)
  if (issues.length > 0) return { ok: false, issues }
  try {
    return { ok: true, schema: withoutExtras(z.toJSONSchema(schema, { io: 'input' })) }
  } catch (error) {
    return { ok: false, issues: [{ path: 'schema', message: (error as Error).message }] }
  }
}

function findUnsaid(schema: z.ZodType, path: readonly PropertyKey[], issues: Issue[]): void {
  const { def } = (schema as z.core.$ZodType as z.core.$ZodTypes)._zod
  if (!READ.has(def.type)) {
    const isTransform = def.type === 'pipe' || def.type === 'transform'
    issues.push(unsaid(path, isTransform ? 'a transform' : `what no form has (${def.type})`))
    return
  }
  for (const check of [...('check' in def ? [def] : []), ...(def.checks ?? []).map(({ _zod }) => _zod.def)]) {
    const what = unsaidOf(check)
    if (what !== undefined) issues.push(unsaid(path, what))
  }
  if (def.type === 'object') {
    if (Object.hasOwn(def.shape, '__proto__'))
      issues.push({ path: pathOf([...path, '__proto__']), message: 'cannot be carried' })
    for (const [name, member] of Object.entries(def.shape))
      findUnsaid(member as z.ZodType, [...path, name], issues)
  } else if (def.type === 'optional' || def.type === 'default') {
    findUnsaid(def.innerType as z.ZodType, path, issues)
  } else if (def.type === 'array') {
    findUnsaid(def.element as z.ZodType, [...path, 'items'], issues)
  }
}

interface CheckDef {
  readonly check: string
  readonly format?: string | undefined
  readonly pattern?: RegExp | undefined
  readonly hostname?: RegExp | undefined
  readonly protocol?: RegExp | undefined
  readonly normalize?: boolean | undefined
}

/** What of a check its JSON schema would not say. */
function unsaidOf({ check, format, pattern, hostname, protocol, normalize }: CheckDef): string | undefined {
  if (!SAID.has(check)) return check === 'custom' ? 'a refinement' : `a check (${check})`
  if (check !== 'string_format') return undefined
  if (hostname !== undefined || protocol !== undefined) return 'a check of a host name or a protocol'
  if (normalize === true) return 'a transform'
  if (BEYOND_PATTERN.has(format ?? '') || (pattern === undefined && format !== 'url'))
    return `a format without a pattern (${format})`
  // A JSON schema has no flags.
  const flags = pattern?.flags.replaceAll(/[dgu]/gu, '') ?? ''
  return flags === '' ? undefined : `a pattern with a flag (${flags})`
}

function unsaid(path: readonly PropertyKey[], what: string): Issue {
  const message = `holds ${what}, which cannot wait with the question; give it to acceptedContent() instead`
  return { path: pathOf(path), message }
}

/** What zod says beyond what was written: its dialect, closed objects, the bounds of a safe integer (which an integer is held to anyway), formats of its own. */
function withoutExtras(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const { $schema: _, additionalProperties: __, ...rest } = schema as Record<string, unknown>
  if (typeof rest.properties === 'object' && rest.properties !== null) {
    const fields = Object.entries(rest.properties)
    return {
      ...rest,
      properties: Object.fromEntries(fields.map(([name, field]) => [name, withoutExtras(field)])),
    }
  }
  if (rest.minimum === Number.MIN_SAFE_INTEGER) delete rest.minimum
  if (rest.maximum === Number.MAX_SAFE_INTEGER) delete rest.maximum
  if (typeof rest.format === 'string' && !SENT_FORMATS.has(rest.format)) delete rest.format
  return rest
}
