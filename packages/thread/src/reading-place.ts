import type { Inbox, JsonValue } from '@handraise/inbox'
import { z } from 'zod'
import { ThreadError } from './error.ts'
import { openPromptsSchema, type OpenPromptsState } from './open-prompts.ts'

const NAMESPACE = 'thread'

const recordSchema = z.object({
  /** Who asks in the thread now. */
  host: z.string().optional(),
  /** Where to read on, with the prompts that were open there; absent before anything was read. */
  place: z.object({ cursor: z.string(), prompts: openPromptsSchema }).optional(),
})

type PlaceRecord = z.infer<typeof recordSchema>

export interface Place {
  readonly cursor: string
  readonly prompts: OpenPromptsState
}

/**
 * Where to read on in a thread, and who does: one record in the inbox's store, written only by who read it last. A host
 * whose write does not hold has lost the thread.
 */
export class ReadingPlace {
  private readonly inbox: Inbox
  private readonly threadId: string
  private record: PlaceRecord = {}
  private version = 0
  private isHeld = false
  private writing: Promise<unknown> = Promise.resolve()

  constructor(inbox: Inbox, threadId: string) {
    this.inbox = inbox
    this.threadId = threadId
  }

  get place(): Place | undefined {
    return this.record.place
  }

  /** Rejects with `THREAD_IN_USE` while another attachment holds the thread and its host is there. */
  async claim(): Promise<void> {
    const found = await this.inbox.store.record(NAMESPACE, this.threadId)
    this.version = found?.version ?? 0
    this.record = recordSchema.safeParse(found?.value).data ?? {}
    const { host } = this.record
    const isFree = host === undefined || (await this.inbox.goneHosts([host])).includes(host)
    if (!isFree || !(await this.write({ ...this.record, host: this.inbox.hostId })))
      throw new ThreadError('THREAD_IN_USE', { threadId: this.threadId, host: host ?? 'that was first' })
    this.isHeld = true
  }

  /** Rejects with `THREAD_TAKEN` when another host holds the thread now. */
  async check(): Promise<void> {
    await this.writing
    const found = await this.inbox.store.record(NAMESPACE, this.threadId)
    if ((found?.version ?? 0) !== this.version) throw this.taken()
  }

  /** Rejects with `THREAD_TAKEN` when another host holds the thread now. */
  async save(place: Place): Promise<void> {
    if (!(await this.write({ ...this.record, place }))) throw this.taken()
  }

  async release(): Promise<void> {
    if (!this.isHeld) return
    const { place } = this.record
    await this.write(place === undefined ? {} : { place })
  }

  // One after the other: each expects the version that the one before made.
  private write(record: PlaceRecord): Promise<boolean> {
    const writing = this.writing.then(async () => {
      const value = JSON.parse(JSON.stringify(record)) as JsonValue
      const [key, expectedVersion] = [this.threadId, this.version]
      const refused = await this.inbox.store.writeRecords([
        { namespace: NAMESPACE, key, value, expectedVersion },
      ])
      if (refused !== undefined) return false
      this.version = (await this.inbox.store.record(NAMESPACE, key))?.version ?? 0
      this.record = record
      return true
    })
    this.writing = writing.catch(() => {})
    return writing
  }

  private taken(): ThreadError<'THREAD_TAKEN'> {
    return new ThreadError('THREAD_TAKEN', { threadId: this.threadId })
  }
}
