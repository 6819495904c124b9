import { faultOf } from './check-content.ts'
import { labelsOf, type FieldSchema } from './form-schema.ts'

/** Why nobody could answer a field, or could not tell its choices apart; nothing for one that can be answered. */
export function whyUnanswerable(field: FieldSchema): string | undefined {
  return whyLabels(field) ?? whyBounds(field) ?? whyDefault(field)
}

function whyLabels(field: FieldSchema): string | undefined {
  const labels = labelsOf(field)
  if (labels === undefined) return undefined
  if (hasTwice(labels)) return 'offers a label twice'
  const titles = titlesOf(field)
  if (titles !== undefined && hasTwice(titles)) return 'offers two labels under one title'
  if (titles !== undefined && titles.length !== labels.length) return 'has not one title for each label'
  return undefined
}

function titlesOf(field: FieldSchema): readonly string[] | undefined {
  if ('oneOf' in field) return field.oneOf.map(({ title }) => title)
  if ('enumNames' in field) return field.enumNames
  return field.type === 'array' && 'anyOf' in field.items
    ? field.items.anyOf.map(({ title }) => title)
    : undefined
}

function hasTwice(texts: readonly string[]): boolean {
  return new Set(texts).size < texts.length
}

function whyBounds(field: FieldSchema): string | undefined {
  const NONE = 'has bounds that nothing lies within'
  if (field.type === 'array') {
    const most = Math.min(field.maxItems ?? Infinity, labelsOf(field)?.length ?? Infinity)
    return (field.minItems ?? 0) > most ? NONE : undefined
  }
  if (field.type === 'string')
    return 'minLength' in field && (field.minLength ?? 0) > (field.maxLength ?? Infinity) ? NONE : undefined
  if (field.type === 'boolean') return undefined
  const { minimum = -Infinity, maximum = Infinity } = field
  const { exclusiveMinimum: above = -Infinity, exclusiveMaximum: below = Infinity } = field
  if (field.type === 'integer') {
    const least = Math.max(Math.ceil(minimum), Math.floor(above) + 1)
    return least > Math.min(Math.floor(maximum), Math.ceil(below) - 1) ? NONE : undefined
  }
  const isEmpty = minimum > maximum || (Number.isFinite(above) && above >= Math.min(maximum, below))
  return isEmpty || (Number.isFinite(below) && below <= minimum) ? NONE : undefined
}

function whyDefault(field: FieldSchema): string | undefined {
  if (field.default === undefined) return undefined
  const fault = faultOf(field, field.default)
  return fault === undefined ? undefined : `has a default that is no answer: ${fault}`
}
