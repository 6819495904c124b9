import { issuesOfZod, type Issue } from '@handraise/user-questions/types'
import { z } from 'zod'

const described = { title: z.string().optional(), description: z.string().optional() }
const count = z.int().min(0).optional()
const option = z.strictObject({ const: z.string(), title: z.string() })
const labels = z.array(z.string()).min(1)
const options = z.array(option).min(1)

const textField = z.strictObject({
  type: z.literal('string'),
  ...described,
  minLength: count,
  maxLength: count,
  format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
  pattern: z.string().refine(isPattern, 'is no regular expression').optional(),
  default: z.string().optional(),
})
const choiceField = z.strictObject({
  type: z.literal('string'),
  ...described,
  enum: labels,
  /** Titles of the labels in the words of 2025-06-18, which later revisions keep for a while. */
  enumNames: z.array(z.string()).optional(),
  default: z.string().optional(),
})
const titledChoiceField = z.strictObject({
  type: z.literal('string'),
  ...described,
  oneOf: options,
  default: z.string().optional(),
})
const numberField = z.strictObject({
  type: z.enum(['number', 'integer']),
  ...described,
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  exclusiveMaximum: z.number().optional(),
  multipleOf: z.number().positive().optional(),
  default: z.number().optional(),
})
const booleanField = z.strictObject({
  type: z.literal('boolean'),
  ...described,
  default: z.boolean().optional(),
})
const choicesField = z.strictObject({
  type: z.literal('array'),
  ...described,
  items: z.union([
    z.strictObject({ type: z.literal('string'), enum: labels }),
    z.strictObject({ type: z.literal('string').optional(), anyOf: options }),
  ]),
  minItems: count,
  maxItems: count,
  default: z.array(z.string()).optional(),
})

/**
 * A field of an elicitation form (MCP 2026-07-28, `PrimitiveSchemaDefinition`), with five keywords more that are checked here
 * and never sent, since a client knows none of them: `pattern`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`.
 */
export type FieldSchema = z.infer<
  | typeof textField
  | typeof choiceField
  | typeof titledChoiceField
  | typeof numberField
  | typeof booleanField
  | typeof choicesField
>

/** By hand, so that a fault is told of the one shape that was meant. */
const fieldSchema: z.ZodType<FieldSchema> = z.unknown().transform((value, context): FieldSchema => {
  const shape = shapeOf(value)
  const parsed = shape?.safeParse(value)
  if (parsed?.success === true) return parsed.data
  const issues = parsed?.error.issues ?? [{ message: NO_FIELD, path: [] }]
  for (const { message, path } of issues) context.addIssue({ code: 'custom', message, path })
  return z.NEVER
})

const NO_FIELD =
  'a form holds strings, numbers, integers, booleans and arrays of labels, and nothing within them'

function shapeOf(value: unknown): z.ZodType<FieldSchema> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { type } = value as { type?: unknown }
  if (type === 'string')
    return 'oneOf' in value ? titledChoiceField : 'enum' in value ? choiceField : textField
  if (type === 'number' || type === 'integer') return numberField
  if (type === 'boolean') return booleanField
  return type === 'array' ? choicesField : undefined
}

export const formSchema = z.strictObject({
  type: z.literal('object'),
  properties: z.record(z.string(), fieldSchema),
  required: z.array(z.string()).optional(),
  // MCP allows the first; clients drop all three, and so they are not sent.
  $schema: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
})

/** A form: flat, as `elicitation/create` allows. */
export type FormSchema = z.infer<typeof formSchema>

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}

export type SchemaReading<T> =
  { readonly ok: true; readonly schema: T } | { readonly ok: false; readonly issues: readonly Issue[] }

export function readForm(value: unknown): SchemaReading<FormSchema> {
  return reading(formSchema.safeParse(value))
}

export function readField(value: unknown): SchemaReading<FieldSchema> {
  return reading(fieldSchema.safeParse(value))
}

function reading<T>(parsed: z.ZodSafeParseResult<T>): SchemaReading<T> {
  return parsed.success
    ? { ok: true, schema: parsed.data }
    : { ok: false, issues: issuesOfZod(parsed.error, ['schema']) }
}

/** The labels a field offers; nothing for one that offers none. */
export function labelsOf(field: FieldSchema): readonly string[] | undefined {
  const source = field.type === 'array' ? field.items : field
  if ('enum' in source) return source.enum
  if ('oneOf' in source) return source.oneOf.map(({ const: label }) => label)
  return 'anyOf' in source ? source.anyOf.map(({ const: label }) => label) : undefined
}
