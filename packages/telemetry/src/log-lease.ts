import type { Inbox, StoredRecord } from '@handraise/inbox'
import { z } from 'zod'
import type { LineSink } from './line-sink.ts'

const NAMESPACE = 'ask-logs'
/** How long until it is kept how far a log is written, in milliseconds. */
const KEEP_MS = 2_000

/** Which host writes a log, how its lines say that they are of it, and up to where it was written at least. */
const leaseSchema = z.object({ host: z.string(), source: z.string(), cursor: z.string() })
type Lease = z.infer<typeof leaseSchema>

/**
 * Of several hosts that share a log one writes: which, and how far it has come, is a record of the inbox. A log is known by
 * its lines, whatever its file and its machine are called by now; one that has none yet by these.
 */
export class LogLease {
  /** How the lines of this log say that they are of it. */
  source = ''
  /** Up to where it was written at least. */
  cursor = ''
  /** True where the log began with this lease. */
  isNew = false
  private readonly inbox: Inbox
  private readonly sink: LineSink
  private key: string | undefined
  private held = false
  private left = false
  private written: string | undefined
  private callOffKeep: (() => void) | undefined
  private keeping: Promise<void> = Promise.resolve()

  constructor(inbox: Inbox, sink: LineSink) {
    this.inbox = inbox
    this.sink = sink
  }

  /** Whether this host writes: it still does, it does from now on, or another one does. */
  async hold(): Promise<'held' | 'taken' | 'theirs'> {
    const { inbox, sink } = this
    if (sink.shared === undefined) {
      if (this.held) return 'held'
      return this.take({ host: inbox.hostId, source: '', cursor: await inbox.store.end() }, true)
    }
    this.key ??= await this.find(sink.shared)
    const record = await inbox.store.record(NAMESPACE, this.key)
    const kept = leaseOf(record)
    if (kept?.host === inbox.hostId) return this.held ? 'held' : this.take(kept, false)
    this.held = false
    if (kept !== undefined && kept.host !== '' && (await inbox.goneHosts([kept.host])).length === 0)
      return 'theirs'
    const lease =
      kept === undefined
        ? { source: crypto.randomUUID().slice(0, 8), cursor: await inbox.store.end() }
        : { source: kept.source, cursor: kept.cursor }
    const mine = { host: inbox.hostId, ...lease }
    return (await this.write(mine, record)) ? this.take(mine, kept === undefined) : 'theirs'
  }

  /** False when another host has taken over. */
  async isHeld(): Promise<boolean> {
    if (this.key === undefined) return this.held
    return leaseOf(await this.inbox.store.record(NAMESPACE, this.key))?.host === this.inbox.hostId
  }

  /** It is written up to here. Kept before long, for a file that is moved away says nothing to whoever comes next. */
  reached(cursor: string): void {
    this.written = cursor
    if (this.key === undefined || this.left) return
    this.callOffKeep ??= this.inbox.clock.after(KEEP_MS, () => {
      this.callOffKeep = undefined
      this.keeping = this.keep(this.inbox.hostId).catch(() => {})
    })
  }

  /** Lets another host write on. */
  async leave(): Promise<void> {
    this.left = true
    this.callOffKeep?.()
    await this.keeping
    await this.keep('')
  }

  private take({ source, cursor }: Lease, isNew: boolean): 'taken' {
    this.source = source
    this.cursor = cursor
    this.isNew = isNew
    this.held = true
    this.written = undefined
    return 'taken'
  }

  private async find(shared: string): Promise<string> {
    const places = await this.sink.places()
    const records = await this.inbox.store.records(NAMESPACE)
    for (const { source } of places) {
      const known = records.find(record => leaseOf(record)?.source === source)
      if (known !== undefined) return known.key
    }
    return shared
  }

  private async keep(host: string): Promise<void> {
    if (this.key === undefined) return
    const record = await this.inbox.store.record(NAMESPACE, this.key)
    const kept = leaseOf(record)
    if (kept?.host !== this.inbox.hostId) return
    await this.write({ ...kept, host, cursor: this.written ?? kept.cursor }, record)
  }

  /** False when somebody else has written it meanwhile. */
  private async write(value: Lease, before: StoredRecord | undefined): Promise<boolean> {
    const { key = '' } = this
    const write = { namespace: NAMESPACE, key, value, expectedVersion: before?.version ?? 0 }
    return (await this.inbox.store.writeRecords([write])) === undefined
  }
}

function leaseOf(record: StoredRecord | undefined): Lease | undefined {
  return leaseSchema.safeParse(record?.value).data
}
