import { decodeJson, readSettlement, type InboxRequest, type StoredRecord } from '@handraise/inbox'
import { z } from 'zod'

/** A request as it is kept, with what the store alone knows of it. */
export interface StoredRequest {
  readonly position: number
  readonly request: InboxRequest
  readonly digest: string
  /** Of the command that settled it. */
  readonly commandDigest?: string
}

export const REQUEST_COLUMNS =
  'r.position, r.id, r.kind, r.session, r.key, r.agent, r.opened_at, r.deadline_at, r.digest, r.command_digest, r.settlement, r.payload'

const requestRow = z.object({
  position: z.number(),
  id: z.string(),
  kind: z.string(),
  session: z.string(),
  key: z.string().nullable(),
  agent: z.string().nullable(),
  opened_at: z.number(),
  deadline_at: z.number().nullable(),
  digest: z.string(),
  command_digest: z.string().nullable(),
  settlement: z.string().nullable(),
  payload: z.string(),
})

const recordRow = z.object({
  namespace: z.string(),
  key: z.string(),
  value: z.string(),
  version: z.number(),
})

export function readRequest(value: unknown): StoredRequest {
  const row = requestRow.parse(value)
  const pending: InboxRequest = {
    id: decodeText(row.id),
    kind: decodeText(row.kind),
    payload: decodeJson(row.payload),
    session: decodeText(row.session),
    ...(row.key === null ? {} : { key: decodeText(row.key) }),
    ...(row.agent === null ? {} : { agent: decodeText(row.agent) }),
    openedAt: row.opened_at,
    ...(row.deadline_at === null ? {} : { deadlineAt: row.deadline_at }),
  }
  const { position } = row
  const digest = decodeText(row.digest)
  if (row.settlement === null) return { position, digest, request: pending }
  const request = { ...pending, settlement: readSettlement(row.settlement) }
  return { position, digest, request, commandDigest: decodeText(row.command_digest ?? '') }
}

export function readRecord(value: unknown): StoredRecord {
  const row = recordRow.parse(value)
  return {
    namespace: decodeText(row.namespace),
    key: decodeText(row.key),
    value: decodeJson(row.value),
    version: row.version,
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u
// No character, so no text begins with it by chance; one that does is escaped as well.
const ESCAPED = '\u{FFFF}'

/** UTF-8 holds no lone surrogate, which half an emoji leaves in a text. Equal texts stay equal, others different. */
export function encodeText(text: string): string {
  return LONE_SURROGATE.test(text) || text.startsWith(ESCAPED) ? ESCAPED + JSON.stringify(text) : text
}

export function decodeText(text: string): string {
  return text.startsWith(ESCAPED) ? z.string().parse(JSON.parse(text.slice(ESCAPED.length))) : text
}
