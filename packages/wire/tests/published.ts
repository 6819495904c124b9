import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const frameSchema = z.object({ dir: z.enum(['client', 'server']), raw: z.string() })

const defSchema = z.looseObject({})
const tableSchema = z.record(
  z.string(),
  z.looseObject({
    params: z.looseObject({ $ref: z.string() }).optional(),
    result: z.looseObject({ $ref: z.string() }).optional(),
  }),
)
const schemaSchema = z.looseObject({
  $defs: z.record(z.string(), defSchema),
  methods: tableSchema,
  notifications: tableSchema,
  requests: tableSchema,
  errors: z.array(
    z.looseObject({
      code: z.int(),
      kind: z.string(),
      overrideKinds: z.array(z.string()).optional(),
      retryable: z.boolean().optional(),
    }),
  ),
  capabilities: z.looseObject({ grantable: z.array(z.string()) }),
})

export interface PublishedFrame {
  readonly dir: 'client' | 'server'
  /** The frame as it stands there, byte for byte. */
  readonly raw: string
}

export interface PublishedTranscript {
  readonly name: string
  readonly frames: readonly PublishedFrame[]
}

/** The schema as published, without its prose and without what is not ours. */
export type PublishedSchema = z.infer<typeof schemaSchema>

// They are another project's and lie outside the repository: named by the environment, else beside it. An empty name says
// that they are nowhere.
const named = process.env.HANDRAISE_MSP_FACTS
const beside = fileURLToPath(new URL('../../../../shared/facts/msp', import.meta.url))
const folder =
  named === undefined ? (existsSync(beside) ? beside : undefined) : named === '' ? undefined : named

/** Ends the title of what is skipped without them, and is empty with them. */
export const PUBLISHED_MISSING =
  folder === undefined ? ' (skipped: what is published is not here, HANDRAISE_MSP_FACTS names no folder)' : ''

export const isPublishedHere = folder !== undefined

/** Every published transcript, by name; none where the folder is not there. */
export function publishedTranscripts(): PublishedTranscript[] {
  if (folder === undefined) return []
  return readdirSync(`${folder}/transcripts`)
    .toSorted()
    .map(name => ({ name, frames: readFrames(`${folder}/transcripts/${name}/transcript.ndjson`) }))
}

/** The published schema; undefined where the folder is not there. */
export function publishedSchema(): PublishedSchema | undefined {
  if (folder === undefined) return undefined
  return schemaSchema.parse(JSON.parse(readFileSync(`${folder}/msp.subset.schema.json`, 'utf8')))
}

function readFrames(file: string): PublishedFrame[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => frameSchema.parse(JSON.parse(line)))
}
