import { randomBytes } from 'node:crypto'
import type { InboxStore } from '@handraise/inbox'
import { z } from 'zod'
import { KEY_BYTES } from './key-file.ts'
import { PauseError } from './pause-error.ts'

const NAMESPACE = 'mcp-key'
const KEY = 'pauses'

const recordSchema = z.object({ version: z.literal(1), key: z.string().regex(/^[\w-]{43,}$/u) })

/**
 * The key in the store, the same for all that hold it. Where there is none yet, whichever is first keeps the one it was given,
 * or a new one. Rejects with `PauseError` `KEY_UNREADABLE` for a record that is none, and with whatever the store rejects with.
 */
export async function readKeyRecord(
  store: InboxStore,
  given: () => Promise<Uint8Array | undefined>,
): Promise<Uint8Array> {
  const kept = await read(store)
  if (kept !== undefined) return kept
  const key = Buffer.from((await given()) ?? randomBytes(KEY_BYTES))
  const value = { version: 1, key: key.toString('base64url') }
  const conflict = await store.writeRecords([{ namespace: NAMESPACE, key: KEY, value, expectedVersion: 0 }])
  if (conflict === undefined) return key
  const first = await read(store)
  if (first === undefined) throw unreadable('it was removed as soon as it was made')
  return first
}

async function read(store: InboxStore): Promise<Uint8Array | undefined> {
  const record = await store.record(NAMESPACE, KEY).catch((error: unknown) => {
    if (error instanceof SyntaxError) throw unreadable('it is no JSON')
    throw error
  })
  if (record === undefined) return undefined
  const parsed = recordSchema.safeParse(record.value)
  if (!parsed.success) throw unreadable('it holds no key')
  return Buffer.from(parsed.data.key, 'base64url')
}

function unreadable(why: string): PauseError {
  return new PauseError('KEY_UNREADABLE', { file: `the record ${NAMESPACE}/${KEY} of the inbox`, why })
}
