import type { StandardSchemaWithJSON } from '@mastra/core/schema'

/** A schema that is shown to the model, and holds nothing against what it sends. */
export function shownOnly(jsonSchema: Readonly<Record<string, unknown>>): StandardSchemaWithJSON {
  const toJsonSchema = (): Record<string, unknown> => ({ ...jsonSchema })
  return {
    '~standard': {
      version: 1,
      vendor: 'handraise',
      validate: value => ({ value }),
      jsonSchema: { input: toJsonSchema, output: toJsonSchema },
    },
  }
}
