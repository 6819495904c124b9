import { createHash } from 'node:crypto'
import { isSettled, type Inbox } from '@handraise/inbox'
import type { NoticeCommand } from './command-runner.ts'

const NAMESPACE = 'notices'

/**
 * True for one alone of all processes that keep this inbox and have this command. The claim is kept in the store until
 * the request is settled.
 */
export async function claim(inbox: Inbox, id: string, command: NoticeCommand): Promise<boolean> {
  const key = `${id}/${createHash('sha256').update(JSON.stringify(command)).digest('hex').slice(0, 16)}`
  const taken = await inbox.store.writeRecords([
    { namespace: NAMESPACE, key, value: true, expectedVersion: 0 },
  ])
  if (taken !== undefined) return false
  inbox
    .watch(id)
    .then(() => inbox.store.writeRecords([{ namespace: NAMESPACE, key, value: null }]))
    // What is left, because the inbox was closed first, is forgotten at the next start.
    .catch(() => {})
  // Settled meanwhile, it may have been claimed before, and that claim forgotten.
  return !isSettled(await inbox.get(id))
}

/** Forgets the claims of requests that were settled while nobody was there to forget them. */
export async function forgetSettled({ store }: Inbox): Promise<void> {
  for (const { key } of await store.records(NAMESPACE)) {
    const request = await store.get(key.slice(0, key.lastIndexOf('/')))
    if (request === undefined || isSettled(request))
      await store.writeRecords([{ namespace: NAMESPACE, key, value: null }])
  }
}
