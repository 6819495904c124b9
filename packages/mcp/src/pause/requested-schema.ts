import { visibleLine, visibleText } from '@handraise/user-questions/types'
import type { FieldSchema, FormSchema } from './form-schema.ts'

const NEVER_SENT = new Set(['pattern', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'])

/** The form as it goes to a client: without what it cannot know, and with titles and descriptions that are safe to show. */
export function toRequestedSchema({ type, properties, required }: FormSchema): FormSchema {
  const sent = Object.entries(properties).map(([name, field]): [string, FieldSchema] => [
    name,
    shown(name, field),
  ])
  return { type, properties: Object.fromEntries(sent), ...(required === undefined ? {} : { required }) }
}

/** Labels and names come back as they are, so those that are not safe to show get titles that are. */
function shown(name: string, field: FieldSchema): FieldSchema {
  const members = Object.entries(field).filter(([keyword]) => !NEVER_SENT.has(keyword))
  const sent = Object.fromEntries(members) as FieldSchema
  const title = visibleLine(sent.title ?? name)
  if (sent.title !== undefined || title !== name) sent.title = title
  if (sent.description !== undefined) sent.description = visibleText(sent.description)
  if (sent.type === 'array')
    return { ...sent, items: 'enum' in sent.items ? itemsOf(sent.items) : titledItems(sent.items) }
  if (sent.type !== 'string') return sent
  if ('oneOf' in sent) return { ...sent, oneOf: sent.oneOf.map(titled) }
  if (!('enum' in sent)) return sent
  const { enum: labels, enumNames, ...rest } = sent
  if (enumNames !== undefined) return { ...sent, enumNames: enumNames.map(visibleLine) }
  return labels.every(isSafe) ? sent : { ...rest, oneOf: labels.map(labelled) }
}

type Items = Extract<FieldSchema, { type: 'array' }>['items']
type Option = { const: string; title: string }

function itemsOf(items: Extract<Items, { enum: string[] }>): Items {
  return items.enum.every(isSafe) ? items : { anyOf: items.enum.map(labelled) }
}

function titledItems(items: Extract<Items, { anyOf: Option[] }>): Items {
  return { ...items, anyOf: items.anyOf.map(titled) }
}

function titled(option: Option): Option {
  return { ...option, title: visibleLine(option.title) }
}

function labelled(label: string): Option {
  return { const: label, title: visibleLine(label) }
}

function isSafe(label: string): boolean {
  return visibleLine(label) === label
}
