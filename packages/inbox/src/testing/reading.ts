import assert from 'node:assert/strict'
import { InboxError, type InboxErrorCode } from '../error.ts'
import type { InboxRequest } from '../request.ts'
import type { InboxStore, ListQuery, LogEntry, LogPage, OpenCommand } from '../store.ts'

/** Opens a request, and fails unless it is new. */
export async function opened(store: InboxStore, command: OpenCommand): Promise<InboxRequest> {
  const result = await store.open(command)
  assert.ok(result.status === 'opened', `expected the request to be opened, it was ${result.status}`)
  return result.request
}

/** Opens requests one after the other, and returns their ids. */
export async function openedIds(store: InboxStore, commands: readonly OpenCommand[]): Promise<string[]> {
  const ids: string[] = []
  for (const command of commands) ids.push((await opened(store, command)).id)
  return ids
}

/** A page of the log that is not lost. */
export async function pageSince(
  store: InboxStore,
  cursor: string,
  limit?: number,
): Promise<Exclude<LogPage, { lost: true }>> {
  const page = await store.since(cursor, limit)
  assert.ok(!('lost' in page), `the cursor ${JSON.stringify(cursor)} is lost`)
  return page
}

/** Everything that followed `cursor`. */
export async function entriesSince(store: InboxStore, cursor: string, limit?: number): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  let at = cursor
  for (;;) {
    const page = await pageSince(store, at, limit)
    if (page.entries.length === 0) return entries
    assert.notEqual(page.cursor, at, 'the log has entries, but its cursor does not move')
    entries.push(...page.entries)
    at = page.cursor
  }
}

/** The changes that followed `cursor`, each as `opened <id>`. */
export async function changesSince(store: InboxStore, cursor: string, limit?: number): Promise<string[]> {
  return (await entriesSince(store, cursor, limit)).map(({ change, request }) => `${change} ${request.id}`)
}

/** Every page of a list. `between` runs after each page. */
export async function listAll(
  store: InboxStore,
  query: ListQuery,
  between: (page: readonly InboxRequest[]) => Promise<unknown> = async () => {},
): Promise<InboxRequest[]> {
  const requests: InboxRequest[] = []
  const seen = new Set<string>()
  let after: string | undefined
  for (;;) {
    const { requests: page, next } = await store.list({ ...query, after })
    requests.push(...page)
    if (next === undefined) return requests
    assert.ok(!seen.has(next), 'the list names the same next page again')
    seen.add(next)
    after = next
    await between(page)
  }
}

export function idsOf(requests: readonly InboxRequest[]): string[] {
  return requests.map(({ id }) => id)
}

/** Asserts that two values are the same plain data; a member that is `undefined` counts as absent. */
export function same(actual: unknown, expected: unknown, message?: string): void {
  assert.deepEqual(plain(actual), plain(expected), message)
}

/** Asserts that nothing is there twice, and that it is the same whatever the order. */
export function sameSet(actual: readonly string[], expected: readonly string[], message?: string): void {
  assert.deepEqual(actual.toSorted(), expected.toSorted(), message)
}

export async function assertRejects(call: () => unknown, code: InboxErrorCode, what: string): Promise<void> {
  const ended = await (async () => call())().then(
    () => 'resolved',
    (error: unknown) => (InboxError.isInstance(error) ? error.code : String(error)),
  )
  assert.equal(ended, code, what)
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown)
}
