import { InboxError, type Inbox, type JsonValue } from '@handraise/inbox'
import { z } from 'zod'
import { ThreadError } from './error.ts'
import { openPromptsSchema, type OpenPromptsState } from './open-prompts.ts'
import { CALL_WITHIN_MS } from './thread-calls.ts'

const NAMESPACE = 'thread'
/** A write is made so often, at once: its reply may be what was lost. */
const MOST_TRIES = 3
/** How long to wait between tries to give a thread free, in milliseconds. */
const RELEASES_MS = [100, 500, 2_000]

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

/** Who in this process has which thread: the record names only the process. */
const holders = new WeakMap<Inbox, Map<string, ReadingPlace>>()

/**
 * Where to read on in a thread, and who does: one record in the inbox's store, written only by the host it names. Whatever
 * the store says of a write, a host has lost the thread only where the record names another one.
 */
export class ReadingPlace {
  private readonly inbox: Inbox
  private readonly threadId: string
  private record: PlaceRecord = {}
  private version = 0
  private isHeld = false
  private writing: Promise<unknown> = Promise.resolve()
  private claiming: Promise<void> = Promise.resolve()
  private leaving: { readonly since: number; readonly done: Promise<void> } | undefined

  constructor(inbox: Inbox, threadId: string) {
    this.inbox = inbox
    this.threadId = threadId
  }

  get place(): Place | undefined {
    return this.record.place
  }

  /** Rejects with `THREAD_IN_USE` while another attachment holds the thread and its host is there. */
  claim(): Promise<void> {
    this.claiming = this.take()
    return this.claiming
  }

  private async take(): Promise<void> {
    const here = holders.get(this.inbox) ?? new Map<string, ReadingPlace>()
    holders.set(this.inbox, here)
    for (let holder = here.get(this.threadId); holder !== undefined; holder = here.get(this.threadId)) {
      if (!(await holder.hasLeft())) throw this.inUse(this.inbox.hostId)
      holder.forget()
    }
    here.set(this.threadId, this)
    try {
      const found = await this.find()
      this.version = found.version
      this.record = found.record
      const { host } = found.record
      const isFree =
        host === undefined || this.isOurs(host) || (await this.inbox.goneHosts([host])).includes(host)
      if (!isFree || !(await this.write({ ...this.record, host: this.inbox.hostId })))
        throw this.inUse(host ?? 'that was first')
      this.isHeld = true
    } catch (error) {
      this.forget()
      throw error
    }
  }

  /** Rejects with `THREAD_TAKEN` when another host holds the thread now. */
  async check(): Promise<void> {
    await this.writing
    const { version, record } = await this.find()
    if (version === this.version) return
    if (record.host !== undefined && !this.isOurs(record.host)) throw this.taken()
    this.version = version
    if (record.host === undefined && !(await this.write(this.record))) throw this.taken()
  }

  /** Rejects with `THREAD_TAKEN` when another host holds the thread now. */
  async save(place: Place): Promise<void> {
    if (!(await this.write({ ...this.record, place }))) throw this.taken()
  }

  /** Gives the thread free once `ended` has. Whoever claims it in this process meanwhile waits for that. */
  release(ended: Promise<unknown> = Promise.resolve()): Promise<void> {
    this.leaving ??= { since: this.inbox.clock.now(), done: this.leave(ended) }
    return this.leaving.done
  }

  /** This attachment has nothing to do with the thread any more. */
  forget(): void {
    const here = holders.get(this.inbox)
    if (here?.get(this.threadId) === this) here.delete(this.threadId)
  }

  private async leave(ended: Promise<unknown>): Promise<void> {
    await ended
    await this.claiming.catch(() => {})
    try {
      if (this.isHeld) await this.giveFree()
    } finally {
      this.forget()
    }
  }

  private async giveFree(): Promise<void> {
    const { place } = this.record
    for (const delayMs of [...RELEASES_MS, undefined]) {
      try {
        await this.write(place === undefined ? {} : { place })
        return
      } catch (error) {
        if (isClosed(error) || delayMs === undefined) throw error
        await new Promise<void>(resolve => this.inbox.clock.after(delayMs, resolve))
      }
    }
  }

  // False while it is at work; a call that hangs is waited for as long as it may take.
  private async hasLeft(): Promise<boolean> {
    if (this.leaving === undefined) return false
    const { since, done } = this.leaving
    const { clock } = this.inbox
    let disarm = (): void => {}
    const late = new Promise<void>(resolve => {
      disarm = clock.after(Math.max(0, since + CALL_WITHIN_MS - clock.now()), resolve)
    })
    await Promise.race([done.catch(() => {}), late])
    disarm()
    return true
  }

  // One after the other: each expects the version that the one before made. False when another host is named.
  private write(record: PlaceRecord): Promise<boolean> {
    const writing = this.writing.then(() => this.writeNow(record))
    this.writing = writing.catch(() => {})
    return writing
  }

  private async writeNow(record: PlaceRecord): Promise<boolean> {
    const value = JSON.parse(JSON.stringify(record)) as JsonValue
    for (let tries = 1; ; tries += 1) {
      try {
        const write = { namespace: NAMESPACE, key: this.threadId, value, expectedVersion: this.version }
        const isDone = (await this.inbox.store.writeRecords([write])) === undefined
        if (isDone && record.host === undefined) return true
        const found = await this.find()
        const { host } = found.record
        if (host !== undefined && !this.isOurs(host)) return false
        // It is free already.
        if (!isDone && host === undefined && record.host === undefined) return true
        this.version = found.version
        if (isDone) {
          this.record = record
          return true
        }
        if (tries >= MOST_TRIES) return false
      } catch (error) {
        // It may hold all the same: then the next write is refused, and the record names this host.
        if (isClosed(error) || tries >= MOST_TRIES) throw error
      }
    }
  }

  private async find(): Promise<{ version: number; record: PlaceRecord }> {
    const found = await this.inbox.store.record(NAMESPACE, this.threadId)
    return { version: found?.version ?? 0, record: recordSchema.safeParse(found?.value).data ?? {} }
  }

  private isOurs(host: string): boolean {
    return host === this.inbox.hostId
  }

  private inUse(host: string): ThreadError<'THREAD_IN_USE'> {
    return new ThreadError('THREAD_IN_USE', { threadId: this.threadId, host })
  }

  private taken(): ThreadError<'THREAD_TAKEN'> {
    return new ThreadError('THREAD_TAKEN', { threadId: this.threadId })
  }
}

function isClosed(error: unknown): boolean {
  return InboxError.isInstance(error) && error.code === 'STORE_CLOSED'
}
