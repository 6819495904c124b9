import type { Form, FormField } from './form.ts'

/**
 * The form with every field empty: for a client that fills in by itself what the person left out, so that nothing but the
 * person's own acts comes back.
 */
export function withoutDefaults({ message, requestedSchema }: Form): Form {
  const properties: Record<string, FormField> = {}
  for (const [name, field] of Object.entries(requestedSchema.properties)) {
    const empty = { ...field }
    delete empty.default
    properties[name] = empty
  }
  return { message, requestedSchema: { ...requestedSchema, properties } }
}
