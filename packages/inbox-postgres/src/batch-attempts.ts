import { delayBefore, pause } from './attempts.ts'
import { failedCommandOf, failureOf, isOutOfTime, isTakenBack, PostgresStoreError } from './error.ts'

/** After so many attempts that the server took back, it is looked for which command of a batch it stumbles over. */
const MOST_TAKEN_BACK = 3
/** How long an attempt is given at the least, though the time of the oldest command is over before, in milliseconds. */
const LEAST_MS = 250

/** Of a call with less time than that left, nothing is attempted any more: it could not be told what came of it. */
export function leastTime(waitMs: number): number {
  return Math.min(LEAST_MS, waitMs / 10)
}

interface Timed {
  readonly reject: (error: unknown) => void
  readonly givenAt: number
}

export interface BatchAttempts<J, R> {
  /** Sends these, and must itself have come to something by `end`, an instant of `performance.now()`. */
  readonly attempt: (jobs: readonly J[], end: number) => Promise<R>
  /** How long each is tried from when it was given, in milliseconds. */
  readonly waitMs: number
  /** When it aborts, nothing is attempted again. */
  readonly ended: AbortSignal
  /** The first attempt that the server takes back is the last. Default false. */
  readonly once?: boolean
}

export type BatchEnd<J, R> =
  | { readonly kind: 'done'; readonly jobs: readonly J[]; readonly result: R }
  /** Nothing was done, for one of them: `at`, where the server told. `refused` is what no other attempt would mend. */
  | {
      readonly kind: 'stumbled'
      readonly jobs: readonly J[]
      readonly at: J | undefined
      readonly refused: boolean
      readonly cause: unknown
      readonly tookMs: number
    }
  /** Each was told that its time was over, or what was wrong. */
  | { readonly kind: 'over' }

/**
 * Attempts a batch until it is carried out, or the database stumbles over one command of it. Each command is given up when
 * its own time is over, and the others are tried on. They must bear being attempted again after they were carried out.
 */
export async function attemptBatch<J extends Timed, R>(
  batch: readonly J[],
  { attempt, waitMs, ended, once = false }: BatchAttempts<J, R>,
): Promise<BatchEnd<J, R>> {
  const leastMs = leastTime(waitMs)
  let jobs = batch
  let waiting = batch
  let lost = false
  let takenBack = 0
  const giveUp = (over: readonly J[], cause: unknown): void => {
    const code = lost ? 'WRITE_UNKNOWN' : 'DATABASE_UNREACHABLE'
    for (const { reject } of over) reject(new PostgresStoreError(code, cause))
    waiting = waiting.filter(job => !over.includes(job))
    // An attempt that was lost may have been carried out, which only the same one again finds out.
    if (!lost) jobs = waiting
  }
  const giveUpBefore = (instant: number, cause: unknown): void => {
    const over = waiting.filter(({ givenAt }) => givenAt + waitMs < instant)
    if (over.length > 0) giveUp(over, cause)
  }
  giveUpBefore(performance.now() + leastMs, 'its time was over before its turn came')
  for (let count = 0; waiting.length > 0; count += 1) {
    const startedAt = performance.now()
    try {
      const result = await attempt(jobs, endOf(waiting, waitMs, startedAt + leastMs))
      return { kind: 'done', jobs, result }
    } catch (cause) {
      const failure = failureOf(cause)
      if (failure === undefined) throw cause
      lost ||= failure === 'unknown'
      const refused = failure === 'refused'
      const at = jobs.length === 1 ? jobs[0] : jobs[failedCommandOf(cause) - 1]
      takenBack = isTakenBack(cause) ? takenBack + 1 : 0
      // What was out of time before its first command has waited for another host.
      const forOne = at !== undefined || !isOutOfTime(cause)
      const most = once || at !== undefined ? 1 : MOST_TAKEN_BACK
      if (!lost && !ended.aborted && (refused || (forOne && takenBack >= most)))
        return { kind: 'stumbled', jobs, at, refused, cause, tookMs: performance.now() - startedAt }
      if (refused || ended.aborted) {
        giveUp(waiting, cause)
        break
      }
      const delayMs = delayBefore(count)
      giveUpBefore(performance.now() + delayMs + leastMs, cause)
      if (waiting.length > 0) await pause(delayMs, [ended])
    }
  }
  return { kind: 'over' }
}

/** By when an attempt has to come to something: when the time of the oldest is over, but no sooner than `least` for the others. */
function endOf(jobs: readonly Timed[], waitMs: number, least: number): number {
  const given = jobs.map(({ givenAt }) => givenAt)
  return Math.min(Math.max(...given) + waitMs, Math.max(Math.min(...given) + waitMs, least))
}
