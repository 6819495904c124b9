import { decodeJson, readSettlement, type InboxRequest, type StoredRecord } from '@handraise/inbox'
import { z } from 'zod'
import type { DatabaseClock } from './database-clock.ts'

/** What is read of a request, in this order. */
export const REQUEST_COLUMNS =
  'r.id, r.kind, r.session, r.key, r.agent, r.opened_at, r.deadline_at, r.settlement, r.payload'

const requestRow = z.object({
  id: z.string(),
  kind: z.string(),
  session: z.string(),
  key: z.string().nullable(),
  agent: z.string().nullable(),
  opened_at: z.number(),
  deadline_at: z.number().nullable(),
  settlement: z.string().nullable(),
  payload: z.string(),
})

const recordRow = z.object({
  namespace: z.string(),
  key: z.string(),
  value: z.string(),
  version: z.number(),
})

/** With its deadline on the clock of this host. */
export function readRequest(value: unknown, clock: DatabaseClock): InboxRequest {
  const row = requestRow.parse(value)
  return {
    id: decodeText(row.id),
    kind: decodeText(row.kind),
    payload: decodeJson(row.payload),
    session: decodeText(row.session),
    ...(row.key === null ? {} : { key: decodeText(row.key) }),
    ...(row.agent === null ? {} : { agent: decodeText(row.agent) }),
    openedAt: row.opened_at,
    ...(row.deadline_at === null ? {} : { deadlineAt: clock.toHost(row.deadline_at) }),
    ...(row.settlement === null ? {} : { settlement: readSettlement(row.settlement) }),
  }
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

const UNKEEPABLE = /[\p{Surrogate}\0]/u
// No character, so no text begins with it by chance; one that does is escaped as well.
const ESCAPED = '\u{FFFF}'

/**
 * PostgreSQL keeps no NUL in a text, and UTF-8 holds no lone surrogate, which half an emoji leaves. Equal texts stay equal,
 * others different.
 */
export function encodeText(text: string): string {
  return UNKEEPABLE.test(text) || text.startsWith(ESCAPED) ? ESCAPED + JSON.stringify(text) : text
}

export function decodeText(text: string): string {
  return text.startsWith(ESCAPED) ? z.string().parse(JSON.parse(text.slice(ESCAPED.length))) : text
}
