import type { Issue } from '@handraise/user-questions/types'
import { z } from 'zod'
import { labelsOf, type FieldSchema, type FormSchema } from './form-schema.ts'

export type FieldValue = string | number | boolean | readonly string[]
export type FormContent = { readonly [field: string]: FieldValue }

export type ContentCheck =
  | { readonly ok: true; readonly content: FormContent }
  | { readonly ok: false; readonly issues: readonly Issue[] }

const FORMATS = {
  email: { schema: z.email(), is: 'an e-mail address' },
  uri: {
    schema: z.string().refine(text => URL.canParse(text)),
    is: 'an address such as https://example.com',
  },
  date: { schema: z.iso.date(), is: 'a date such as 2026-07-28' },
  'date-time': {
    schema: z.iso.datetime({ offset: true }),
    is: 'a date and time such as 2026-07-28T09:30:00Z',
  },
} as const

/**
 * Holds the content of an accepted form to what was asked, since no SDK does. Members that were not asked for are left out.
 * A field that need not be filled may be missing, null, or an empty choice. Nothing is converted: `"42"` is no number.
 */
export function checkContent(form: FormSchema, content: unknown): ContentCheck {
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    return {
      ok: false,
      issues: [{ path: '', message: 'an accepted form comes with its content, an object' }],
    }
  const issues: Issue[] = []
  const kept: [string, FieldValue][] = []
  for (const [name, field] of Object.entries(form.properties)) {
    const value: unknown = Object.hasOwn(content, name) ? Reflect.get(content, name) : undefined
    const required = form.required?.includes(name) ?? false
    if (isNothing(field, value)) {
      if (required) issues.push({ path: name, message: 'must be answered' })
      continue
    }
    const message = faultOf(field, value)
    if (message === undefined) kept.push([name, value as FieldValue])
    else issues.push({ path: name, message })
  }
  return issues.length > 0 ? { ok: false, issues } : { ok: true, content: Object.fromEntries(kept) }
}

function isNothing(field: FieldSchema, value: unknown): boolean {
  if (value === undefined || value === null) return true
  // Some clients send a choice that was cleared as an empty text.
  return value === '' && labelsOf(field)?.includes('') === false
}

/** Why a value is no answer to a field, or nothing. */
export function faultOf(field: FieldSchema, value: unknown): string | undefined {
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected true or false, got ${nameOf(value)}`
    case 'number':
    case 'integer':
      return faultOfNumber(field, value)
    case 'array':
      return faultOfLabels(field, value)
    case 'string':
      if (typeof value !== 'string') return `expected a text, got ${nameOf(value)}`
      return 'enum' in field || 'oneOf' in field ? faultOfLabel(field, value) : faultOfText(field, value)
  }
}

function faultOfNumber(
  field: Extract<FieldSchema, { type: 'number' | 'integer' }>,
  value: unknown,
): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return `expected a number, got ${nameOf(value)}`
  if (field.type === 'integer' && !Number.isInteger(value)) return `expected a whole number, got ${value}`
  // Others may have been another number before they were read.
  if (field.type === 'integer' && !Number.isSafeInteger(value))
    return `expected a whole number within ±${Number.MAX_SAFE_INTEGER}, got ${value}`
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field
  if (minimum !== undefined && value < minimum) return `expected at least ${minimum}, got ${value}`
  if (maximum !== undefined && value > maximum) return `expected at most ${maximum}, got ${value}`
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return `expected more than ${exclusiveMinimum}, got ${value}`
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return `expected less than ${exclusiveMaximum}, got ${value}`
  if (multipleOf !== undefined && !z.number().multipleOf(multipleOf).safeParse(value).success)
    return `expected a multiple of ${multipleOf}, got ${value}`
  return undefined
}

function faultOfText(
  field: Exclude<Extract<FieldSchema, { type: 'string' }>, { enum: string[] } | { oneOf: unknown }>,
  value: string,
): string | undefined {
  const { minLength, maxLength, format, pattern } = field
  // In characters, not in UTF-16 units, as JSON Schema counts.
  const length = Array.from(value).length
  if (minLength !== undefined && length < minLength)
    return `expected at least ${minLength} ${minLength === 1 ? 'character' : 'characters'}, got ${length}`
  if (maxLength !== undefined && length > maxLength)
    return `expected at most ${maxLength} ${maxLength === 1 ? 'character' : 'characters'}, got ${length}`
  if (format !== undefined && !FORMATS[format].schema.safeParse(value).success)
    return `expected ${FORMATS[format].is}`
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return `expected a text like /${pattern}/`
  return undefined
}

function faultOfLabel(field: FieldSchema, value: string): string | undefined {
  const labels = labelsOf(field) ?? []
  return labels.includes(value)
    ? undefined
    : `expected one of ${listed(labels)}, got ${JSON.stringify(value)}`
}

function faultOfLabels(field: Extract<FieldSchema, { type: 'array' }>, value: unknown): string | undefined {
  if (!Array.isArray(value)) return `expected a list of choices, got ${nameOf(value)}`
  const labels = labelsOf(field) ?? []
  const other: unknown = value.find(label => !labels.includes(label as string))
  if (other !== undefined) return `expected choices out of ${listed(labels)}, got ${JSON.stringify(other)}`
  if (new Set(value).size < value.length) return 'a choice was named twice'
  const { minItems, maxItems } = field
  if (minItems !== undefined && value.length < minItems)
    return `expected at least ${minItems}, got ${value.length}`
  if (maxItems !== undefined && value.length > maxItems)
    return `expected at most ${maxItems}, got ${value.length}`
  return undefined
}

function listed(labels: readonly string[]): string {
  return labels.map(label => JSON.stringify(label)).join(', ')
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : JSON.stringify(value)
}
