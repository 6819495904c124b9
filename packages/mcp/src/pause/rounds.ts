import type { JsonValue } from '@handraise/inbox'
import { canonicalJson } from '@handraise/user-questions/types'
import type { Clock } from '@handraise/user-questions'
import { isInputRequiredResult, ProtocolError, type InputRequiredResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { faultsNoted, type InputResponse, type InputResponses } from './accepted-content.ts'
import { toInputRequests } from './asked.ts'
import { digestOfCall, type PausableMethod } from './call-target.ts'
import { endedBy, endedByAnswer, endedByFaults, endedLate, endedUnknown } from './ending.ts'
import { isInputRequired, type InputRequired } from './input-required.ts'
import type { Ledger, PauseOutcome } from './ledger.ts'
import type { EndedPause } from './pause-ending.ts'
import { closeState, openState, type PausedState } from './paused-state.ts'
import { readAnswers } from './read-answers.ts'
import { RefusedState } from './refused-state.ts'
import type { Seal } from './seal.ts'
import { toldError } from './told-error.ts'

/** One request as it came in, the first of a call or a later round. */
export interface PausableCall {
  readonly method: PausableMethod
  readonly name: string
  readonly args: unknown
  readonly principal: string
  /** As the client echoed it. */
  readonly state: string | undefined
  /** What the client answered, unchecked. */
  readonly sent: unknown
  readonly signal: AbortSignal
  /** Tells servers apart whose tools have the same names. */
  readonly scope?: string | undefined
  /** Takes answers that come without a state. */
  readonly acceptUnasked: boolean
}

/** What a handler is given beside its arguments. */
export interface Given {
  readonly inputResponses: InputResponses
  readonly requestState: JsonValue | undefined
}

export interface PausableWork {
  /** Runs the handler from its top. */
  readonly run: (given: Given) => unknown
  /** What comes in place of a pause that is to end, or cannot begin. */
  readonly takeUp?: ((given: Given) => unknown) | undefined
  /** True of what it came to when that is not the end of it. */
  readonly isOpen?: ((value: unknown) => boolean) | undefined
  /** Told of a call that waits for another one's outcome. Returns what ends that. */
  readonly joined?: ((requestState: JsonValue | undefined) => () => void) | undefined
  /** Runs instead of the handler when an answer came too late. */
  readonly late?: ((given: Given) => unknown) | undefined
  /** What the handler came to, as the method's result. */
  readonly toResult: (value: unknown) => unknown
  /** Told of a pause that ends without a result. */
  readonly ended: (pause: EndedPause) => unknown
}

export interface RoundsOptions {
  readonly seal: Seal
  readonly ledger: Ledger
  readonly clock: Clock
  readonly ttlMs: number
  /** Told what went wrong in what nobody waits for. */
  readonly report: (error: unknown) => void
}

/** What is known when a handler runs. */
type Known = Pick<PausedState, 'asked' | 'answers' | 'attempts' | 'requestState'>

/** What the states of one pause have in common. */
type Pause = Pick<PausedState, 'version' | 'pause' | 'expiresAt' | 'principal' | 'call'>

/** What a handler asks for, and what is known already. */
interface Asking extends Known {
  readonly kind: 'asking'
  readonly notes: ReadonlyMap<string, string>
}

const NOTHING_KNOWN: Known = { asked: [], answers: new Map(), attempts: 0, requestState: undefined }
const NO_RESPONSES = Object.freeze(Object.create(null) as object) as InputResponses
const MOST_ATTEMPTS = 3
/** How many rounds of one call may be answered at once, before they were asked. */
const MOST_UNASKED = 10
const TOO_LATE = 'An earlier answer came too late to be used. Please answer again.'

/** Takes a call from round to round, each from a state that its client carried. */
export class Rounds {
  private readonly seal: Seal
  private readonly ledger: Ledger
  private readonly clock: Clock
  private readonly ttlMs: number
  private readonly report: (error: unknown) => void

  constructor({ seal, ledger, clock, ttlMs, report }: RoundsOptions) {
    this.seal = seal
    this.ledger = ledger
    this.clock = clock
    this.ttlMs = ttlMs
    this.report = report
  }

  /** Throws `RefusedState` for a state that is not of this very call, and what the handler of a first round throws. */
  async enter(call: PausableCall, work: PausableWork): Promise<PauseOutcome> {
    const digest = digestOfCall(call.method, call.name, call.args, call.scope)
    if (call.state === undefined) return await this.first(call, digest, work, await this.ledger.prunedUpTo())
    const paused = this.opened(call.state, call.principal, digest)
    const { pause, expiresAt } = paused
    const outcomeOf = (): Promise<PauseOutcome | undefined> => this.ledger.outcomeOf(pause, call.signal)
    if (await this.ledger.isClaimed(pause)) return await this.again(call, work, paused, outcomeOf)
    const prunedUpTo = await this.ledger.prunedUpTo()
    if (expiresAt <= Math.max(this.clock.now(), prunedUpTo))
      return await this.first(call, digest, work, prunedUpTo, paused)
    const step = this.answered(call, paused)
    if (step.kind === 'asking') return await this.paused(call, work, step, paused)
    let isFirst = false
    const finish = async (): Promise<PauseOutcome> => {
      isFirst = true
      if (step.kind === 'known') return await this.finish(call, digest, work, prunedUpTo, step.known)
      try {
        const takenUp = await this.takenUp(call, work, paused)
        if (takenUp !== undefined) return takenUp
      } catch (error) {
        return errorOutcome(error)
      }
      await this.tell(work, step, paused)
      return step
    }
    if (this.ledger.isRunning(pause)) return await this.again(call, work, paused, outcomeOf)
    const outcome = await this.ledger.redeem(pause, expiresAt, finish, call.signal)
    // Another process may have been the first.
    if (outcome !== undefined && (isFirst || !waitsStill(outcome))) return outcome
    return await this.unknown(call, work, paused)
  }

  /** The same answer once more: what the first came to, or how that stands now. */
  private async again(
    call: PausableCall,
    work: PausableWork,
    paused: PausedState,
    outcomeOf: () => Promise<PauseOutcome | undefined>,
  ): Promise<PauseOutcome> {
    const leave = work.joined?.(paused.requestState)
    try {
      const isFresh = this.ledger.isRunning(paused.pause)
      const outcome = await outcomeOf()
      const holds = outcome !== undefined && (!waitsStill(outcome) || (isFresh && outcome.open === 'told'))
      return holds ? outcome : await this.takingOver(leave, this.unknown(call, work, paused))
    } finally {
      leave?.()
    }
  }

  // Whoever takes up counts by itself, and would count twice until it has ended.
  private takingOver<T>(leave: (() => void) | undefined, begun: Promise<T>): Promise<T> {
    leave?.()
    return begun
  }

  private async unknown(call: PausableCall, work: PausableWork, paused: PausedState): Promise<PauseOutcome> {
    const takenUp = await this.takenUp(call, work, paused)
    if (takenUp !== undefined) return takenUp
    const ended = endedUnknown(call.name)
    // Whoever runs still comes to a result of their own.
    if (await this.ledger.isLost(paused.pause)) await this.tell(work, ended, paused)
    return ended
  }

  /** What the work takes up instead, if it can. */
  private async takenUp(
    call: PausableCall,
    work: PausableWork,
    { requestState }: Pick<Known, 'requestState'>,
  ): Promise<PauseOutcome | undefined> {
    if (work.takeUp === undefined) return undefined
    return toOutcome(call, work, await work.takeUp({ inputResponses: NO_RESPONSES, requestState }))
  }

  /** The client is told what became of its call whatever comes of this. */
  private async tell(
    work: PausableWork,
    { how, message }: Pick<EndedPause, 'how' | 'message'>,
    { requestState }: Pick<Known, 'requestState'>,
    next?: JsonValue,
  ): Promise<void> {
    try {
      await work.ended({ how, message, requestState, next })
    } catch (error) {
      this.report(error)
    }
  }

  private opened(sealed: string, principal: string, digest: string): PausedState {
    const paused = openState(this.seal, sealed)
    if (paused === undefined) throw new RefusedState('it was not sealed here, or was changed')
    if (paused.principal !== principal) throw new RefusedState('it belongs to another principal')
    if (paused.call !== digest) throw new RefusedState('it belongs to another call, or to other arguments')
    return paused
  }

  private async first(
    call: PausableCall,
    digest: string,
    work: PausableWork,
    prunedUpTo: number,
    expired?: PausedState,
  ): Promise<PauseOutcome> {
    let next: JsonValue | undefined
    try {
      let step = await this.ranLate(call, work, expired)
      step ??= await this.run(call, work, NOTHING_KNOWN)
      if (call.acceptUnasked && call.state === undefined) step = await this.runAhead(call, work, step)
      if (step.kind !== 'asking') return step
      next = step.requestState
      const [asked] = step.asked
      const notes =
        expired === undefined || asked === undefined ? step.notes : new Map([[asked.id, TOO_LATE]])
      return await this.paused(call, work, { ...step, notes }, this.newPause(call, digest, prunedUpTo))
    } finally {
      if (expired !== undefined) await this.tell(work, endedLate(call.name), expired, next)
    }
  }

  /** Runs on with answers that came before they were asked for. */
  private async runAhead(
    call: PausableCall,
    work: PausableWork,
    first: PauseOutcome | Asking,
  ): Promise<PauseOutcome | Asking> {
    let step = first
    for (let round = 0; round < MOST_UNASKED && step.kind === 'asking'; round += 1) {
      const { answers, faults, missing } = readAnswers(step.asked, call.sent)
      if (answers.size === 0) return step
      const known = { ...step, answers: new Map([...step.answers, ...answers]) }
      if (faults.size > 0 || missing.length > 0) return known
      step = await this.run(call, work, known)
    }
    return step
  }

  /** What the answers of a round come to, before anything is done about them. */
  private answered(
    call: PausableCall,
    paused: PausedState,
  ): { readonly kind: 'known'; readonly known: Known } | Asking | Extract<PauseOutcome, { kind: 'ended' }> {
    const open = paused.asked.filter(({ id }) => !paused.answers.has(id))
    const { answers, faults, missing } = readAnswers(open, call.sent)
    const known = { ...paused, answers: new Map([...paused.answers, ...answers]) }
    // A person who said no is not asked for the rest.
    const saidNo = paused.asked.some(({ id }) => isNo(known.answers.get(id)))
    if (saidNo || (faults.size === 0 && missing.length === 0)) return { kind: 'known', known }
    const attempts = paused.attempts + (faults.size > 0 ? 1 : 0)
    if (attempts >= MOST_ATTEMPTS) return endedByFaults(call.name, open, faults, attempts)
    return { ...known, kind: 'asking', attempts, notes: noted(faults) }
  }

  /** Runs the handler with all its answers. Whatever it does is what the pause came to. */
  private async finish(
    call: PausableCall,
    digest: string,
    work: PausableWork,
    prunedUpTo: number,
    known: Known,
  ): Promise<PauseOutcome> {
    try {
      const step = await this.run(call, work, known)
      const outcome =
        step.kind === 'asking'
          ? await this.paused(call, work, step, this.newPause(call, digest, prunedUpTo))
          : step
      return JSON.parse(JSON.stringify(outcome)) as PauseOutcome
    } catch (error) {
      return errorOutcome(error)
    }
  }

  private async run(call: PausableCall, work: PausableWork, known: Known): Promise<PauseOutcome | Asking> {
    const inputResponses = Object.freeze(
      Object.assign(Object.create(null) as object, Object.fromEntries(known.answers)),
    ) as InputResponses
    return await this.came(
      call,
      work,
      known,
      inputResponses,
      await work.run({ inputResponses, requestState: known.requestState }),
    )
  }

  /** What runs in place of a handler whose question was answered too late, if it does. */
  private async ranLate(
    call: PausableCall,
    work: PausableWork,
    expired: PausedState | undefined,
  ): Promise<PauseOutcome | Asking | undefined> {
    if (expired === undefined || work.late === undefined) return undefined
    const { requestState } = expired
    const value = await work.late({ inputResponses: NO_RESPONSES, requestState })
    return value === undefined ? undefined : await this.came(call, work, NOTHING_KNOWN, NO_RESPONSES, value)
  }

  private async came(
    call: PausableCall,
    work: PausableWork,
    known: Known,
    inputResponses: InputResponses,
    value: unknown,
  ): Promise<PauseOutcome | Asking> {
    if (isInputRequired(value)) {
      const step = asking(call, value, known, faultsNoted(inputResponses))
      if (step.kind === 'ended') await this.tell(work, step, known, value.requestState)
      return step
    }
    if (isInputRequiredResult(value))
      throw new TypeError('return what inputRequired() of @handraise/mcp gives, whose state is sealed')
    return toOutcome(call, work, value)
  }

  private newPause({ principal }: PausableCall, digest: string, prunedUpTo: number): Pause {
    return {
      version: 1,
      pause: crypto.randomUUID(),
      // On a clock that was set back behind it, nothing asked now could be answered otherwise.
      expiresAt: Math.max(this.clock.now(), prunedUpTo) + this.ttlMs,
      principal,
      call: digest,
    }
  }

  private async paused(
    call: PausableCall,
    work: PausableWork,
    step: Asking,
    pause: Pause,
  ): Promise<PauseOutcome> {
    try {
      return this.sealed(step, pause)
    } catch (error) {
      // Too large to be carried.
      const takenUp = error instanceof RangeError ? await this.takenUp(call, work, step) : undefined
      if (takenUp === undefined) throw error
      return takenUp
    }
  }

  private sealed(
    { asked, answers, attempts, requestState, notes }: Asking,
    { version, pause, expiresAt, principal, call }: Pause,
  ): PauseOutcome {
    const state = { version, pause, expiresAt, principal, call, asked, answers, attempts, requestState }
    const result: InputRequiredResult = {
      resultType: 'input_required',
      inputRequests: toInputRequests(
        asked.filter(({ id }) => !answers.has(id)),
        notes,
      ),
      requestState: closeState(this.seal, state),
    }
    return { kind: 'result', result: result as unknown as JsonValue }
  }
}

function toOutcome({ signal }: PausableCall, work: PausableWork, value: unknown): PauseOutcome {
  const result = work.toResult(value) as JsonValue
  const isOpen = work.takeUp !== undefined && work.isOpen?.(value) === true
  return { kind: 'result', result, ...(isOpen ? { open: signal.aborted ? 'left' : 'told' } : {}) }
}

function waitsStill(outcome: PauseOutcome): outcome is Extract<PauseOutcome, { kind: 'result' }> {
  return outcome.kind === 'result' && outcome.open !== undefined
}

/** What a handler asks for, unless the person answered that already. */
function asking(
  { name }: PausableCall,
  { asked, requestState }: InputRequired,
  known: Known,
  faults: ReadonlyMap<string, string>,
): Asking | Extract<PauseOutcome, { kind: 'ended' }> {
  for (const each of asked) {
    const answer = known.answers.get(each.id)
    if (answer === undefined) continue
    if (isNo(answer)) return endedBy(answer.action === 'decline' ? 'declined' : 'cancelled', name, each)
    const before = known.asked.find(({ id }) => id === each.id)
    const isSame = before !== undefined && canonicalJson(before) === canonicalJson(each)
    if (isSame && !faults.has(each.id))
      return endedByAnswer(name, each, 'content' in answer ? answer.content : undefined)
  }
  const again = new Map(Array.from(faults).filter(([id]) => asked.some(each => each.id === id)))
  const attempts = again.size > 0 ? known.attempts + 1 : 0
  if (attempts >= MOST_ATTEMPTS) return endedByFaults(name, asked, again, attempts)
  const answers = new Map(known.answers)
  for (const { id } of asked) answers.delete(id)
  return { kind: 'asking', asked, answers, attempts, requestState, notes: noted(again) }
}

function isNo(
  answer: InputResponse | undefined,
): answer is Extract<InputResponse, { action: 'decline' | 'cancel' }> {
  return answer !== undefined && 'action' in answer && answer.action !== 'accept'
}

function noted(faults: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map(
    Array.from(faults, ([id, fault]) => [
      id,
      `The last answer could not be used: ${fault}. Please answer again.`,
    ]),
  )
}

function errorOutcome(thrown: unknown): PauseOutcome {
  const error = toldError(thrown)
  const message = error instanceof Error ? error.message : String(error)
  if (!ProtocolError.isInstance(error)) return { kind: 'error', message }
  const { code, data } = error
  const kept = z.json().safeParse(data)
  return { kind: 'error', message, code, ...(kept.success ? { data: kept.data } : {}) }
}
