import { hostname } from 'node:os'
import { isRunning, type InboxStore, type JsonValue } from '@handraise/inbox'
import type { Clock } from '@handraise/user-questions'
import { z } from 'zod'
import { PAUSE_ENDINGS, type PauseEnding } from './pause-ending.ts'

const CLAIMS = 'mcp-pauses'
const OUTCOMES = 'mcp-pause-outcomes'
const PRUNED = 'mcp-pauses-pruned'
const UP_TO = 'up-to'

/** This process, also when another one with its number ran before it. */
const PROCESS = { host: hostname(), pid: process.pid, start: crypto.randomUUID() }

const claimSchema = z.object({
  /** When nothing can be redeemed any more by what was claimed; milliseconds since the Unix epoch, as is `at`. */
  expiresAt: z.number(),
  at: z.number(),
  by: z.object({ host: z.string(), pid: z.int(), start: z.string() }),
})

type Claim = z.infer<typeof claimSchema>

/** Claims that end before this may be gone; milliseconds since the Unix epoch. Never goes back, unlike a clock. */
const prunedSchema = z.object({ upTo: z.number() })

/** What an answered pause came to: as it is sent, or as it is thrown. */
export type PauseOutcome =
  | {
      readonly kind: 'result'
      readonly result: JsonValue
      /** It only says that something waits still: to whoever called, or to nobody, since they had left. */
      readonly open?: 'told' | 'left'
    }
  | { readonly kind: 'ended'; readonly how: PauseEnding; readonly message: string }
  | {
      readonly kind: 'error'
      readonly message: string
      readonly code?: number | undefined
      readonly data?: JsonValue | undefined
    }

const outcomeSchema: z.ZodType<PauseOutcome> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('result'),
    result: z.json(),
    open: z.enum(['told', 'left']).exactOptional(),
  }),
  z.object({ kind: z.literal('ended'), how: z.enum(PAUSE_ENDINGS), message: z.string() }),
  z.object({
    kind: z.literal('error'),
    message: z.string(),
    code: z.int().optional(),
    data: z.json().optional(),
  }),
])

export interface LedgerOptions {
  readonly store: InboxStore
  readonly clock: Clock
  /** How long a repeated answer waits for the outcome of the first that another process works on, in milliseconds of waiting. */
  readonly patienceMs: number
  /** Told what went wrong in what nobody waits for. */
  readonly report: (error: unknown) => void
}

const POLL_MS = 50
const PRUNE_EVERY_MS = 60 * 60 * 1_000
/** An effect that takes longer than this beyond the end of its pause may leave an outcome that nobody removes. */
const PRUNE_AFTER_MS = 60 * 60 * 1_000

/**
 * Which pauses were answered, and what came of it. A pause is claimed once, by whatever process is first, before anything is
 * done; what was done is kept until the pause would have expired. Whatever was claimed and is forgotten ended before
 * `prunedUpTo`, so that a clock that is set back brings none of it back.
 */
export class Ledger {
  private readonly store: InboxStore
  private readonly clock: Clock
  private readonly patienceMs: number
  private readonly report: (error: unknown) => void
  private readonly running = new Map<string, Promise<PauseOutcome | undefined>>()
  /** What could not be written: this process at least knows it. */
  private readonly unwritten = new Map<
    string,
    { readonly outcome: PauseOutcome; readonly expiresAt: number }
  >()
  private prunedAt = 0

  constructor({ store, clock, patienceMs, report }: LedgerOptions) {
    this.store = store
    this.clock = clock
    this.patienceMs = patienceMs
    this.report = report
  }

  /** True while this process does the work of the pause. */
  isRunning(pause: string): boolean {
    return this.running.has(pause)
  }

  /** True when the pause was claimed, whatever became of it. */
  async isClaimed(pause: string): Promise<boolean> {
    return this.running.has(pause) || (await this.store.record(CLAIMS, pause)) !== undefined
  }

  /** The end of what may be forgotten, in milliseconds since the Unix epoch. Ask for it after `isClaimed`, not before. */
  async prunedUpTo(): Promise<number> {
    return upToOf((await this.store.record(PRUNED, UP_TO))?.value)
  }

  /**
   * Does the work of a pause, or waits for what came of it when it was claimed before. Nothing comes of a claim whose process
   * ended before it told, or has not told within the ledger's patience: nobody knows then what was done. Nor of one that was forgotten meanwhile.
   * `work` must not reject.
   */
  redeem(
    pause: string,
    expiresAt: number,
    work: () => Promise<PauseOutcome>,
    signal: AbortSignal,
  ): Promise<PauseOutcome | undefined> {
    const running = this.running.get(pause)
    if (running !== undefined) return running
    const redeeming = this.claimed(pause, expiresAt, work, signal).finally(() => this.running.delete(pause))
    this.running.set(pause, redeeming)
    return redeeming
  }

  private async claimed(
    pause: string,
    expiresAt: number,
    work: () => Promise<PauseOutcome>,
    signal: AbortSignal,
  ): Promise<PauseOutcome | undefined> {
    const claim: Claim = { expiresAt, at: this.clock.now(), by: PROCESS }
    const write = { namespace: CLAIMS, key: pause, value: claim, expectedVersion: 0 }
    if ((await this.store.writeRecords([write])) !== undefined) return await this.kept(pause, signal)
    // Another process may have claimed it, and yet another forgotten that, since it was looked for.
    if (expiresAt <= (await this.prunedUpTo())) return undefined
    const outcome = await work()
    try {
      await this.store.writeRecords([{ namespace: OUTCOMES, key: pause, value: outcome as JsonValue }])
    } catch (error) {
      // It was done, and whoever asks this process is told so; only another one finds nothing.
      this.unwritten.set(pause, { outcome, expiresAt })
      this.report(error)
    }
    // Nobody who answered waits for it.
    this.prune().catch(this.report)
    return outcome
  }

  /** What came of a pause that was claimed; waits for it, as `redeem` does. */
  async outcomeOf(pause: string, signal: AbortSignal): Promise<PauseOutcome | undefined> {
    return (await this.running.get(pause)) ?? (await this.kept(pause, signal))
  }

  /** True when whoever claimed the pause is gone, and nothing came of it. */
  async isLost(pause: string): Promise<boolean> {
    const claim = claimSchema.safeParse((await this.store.record(CLAIMS, pause))?.value).data
    return claim !== undefined && isOver(claim) && (await this.store.record(OUTCOMES, pause)) === undefined
  }

  private async kept(pause: string, signal: AbortSignal): Promise<PauseOutcome | undefined> {
    const unwritten = this.unwritten.get(pause)
    if (unwritten !== undefined) return unwritten.outcome
    // Counted, since a clock may be set back meanwhile.
    for (let polls = Math.ceil(this.patienceMs / POLL_MS); ; polls -= 1) {
      const kept = await this.store.record(OUTCOMES, pause)
      if (kept !== undefined) return outcomeSchema.parse(kept.value)
      const claim = claimSchema.safeParse((await this.store.record(CLAIMS, pause))?.value).data
      if (claim === undefined || isOver(claim) || polls <= 0) return undefined
      await this.pause(signal)
    }
  }

  private pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const callOff = this.clock.after(POLL_MS, () => {
        signal.removeEventListener('abort', abort)
        resolve()
      })
      const abort = (): void => {
        callOff()
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', abort, { once: true })
    })
  }

  /** Forgets what can be redeemed no more; looks once an hour at most. */
  private async prune(): Promise<void> {
    const now = this.clock.now()
    if (now - this.prunedAt < PRUNE_EVERY_MS) return
    this.prunedAt = now
    const upTo = now - PRUNE_AFTER_MS
    for (const [pause, { expiresAt }] of this.unwritten) if (expiresAt < upTo) this.unwritten.delete(pause)
    const ended = (await this.store.records(CLAIMS)).filter(({ value }) => {
      const claim = claimSchema.safeParse(value).data
      // One that cannot be read stays: nobody knows until when it counts.
      return claim !== undefined && claim.expiresAt < upTo
    })
    if (ended.length === 0) return
    // First, so that whoever finds no claim any more finds this.
    await this.markPruned(upTo)
    for (const { key, version } of ended) {
      await this.store.writeRecords([
        { namespace: CLAIMS, key, value: null, expectedVersion: version },
        { namespace: OUTCOMES, key, value: null },
      ])
    }
  }

  private async markPruned(upTo: number): Promise<void> {
    for (;;) {
      const mark = await this.store.record(PRUNED, UP_TO)
      if (upToOf(mark?.value) >= upTo) return
      const write = { namespace: PRUNED, key: UP_TO, value: { upTo }, expectedVersion: mark?.version ?? 0 }
      if ((await this.store.writeRecords([write])) === undefined) return
    }
  }
}

function upToOf(value: unknown): number {
  return prunedSchema.safeParse(value).data?.upTo ?? Number.NEGATIVE_INFINITY
}

/** True when who claimed surely runs no more. Nothing is known of another machine's processes. */
function isOver({ by }: Claim): boolean {
  if (by.host !== PROCESS.host) return false
  return by.pid === PROCESS.pid ? by.start !== PROCESS.start : !isRunning(by.pid)
}
