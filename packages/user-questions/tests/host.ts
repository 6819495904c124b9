import { getEventListeners } from 'node:events'
import { AgentRegistry } from '@handraise/agents'
import {
  UserQuestionError,
  UserQuestionService,
  type AnyUserQuestionError,
  type AskUserQuestionAnswer,
  type Clock,
  type ProviderRequest,
  type Question,
  type SettledAsk,
  type PendingAsk,
  type UserQuestionConfig,
  type UserQuestionProvider,
} from '@handraise/user-questions'
import { Context } from 'cordis'
import { afterEach, expect } from 'vitest'

export const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}

export const SQLITE: AskUserQuestionAnswer = { answers: [{ id: 'db', selected: ['SQLite'] }] }

/** A context with the seam and a registry of agents, both mounted on it. */
export async function openHost(config: UserQuestionConfig = {}): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService, config)
  await ctx.plugin(AgentRegistry)
  return ctx
}

/** A provider whose person answers when the test says so. */
export class HeldProvider implements UserQuestionProvider {
  readonly name = 'held'
  readonly requests: ProviderRequest[] = []
  private readonly waiting: Array<PromiseWithResolversOf<AskUserQuestionAnswer>> = []

  ask(request: ProviderRequest): Promise<AskUserQuestionAnswer> {
    this.requests.push(request)
    const waiter = withResolvers<AskUserQuestionAnswer>()
    this.waiting.push(waiter)
    return waiter.promise
  }

  answer(value: unknown, index = 0): void {
    this.waiting[index]?.resolve(value as AskUserQuestionAnswer)
  }

  fail(error: unknown, index = 0): void {
    this.waiting[index]?.reject(error)
  }
}

interface PromiseWithResolversOf<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (reason: unknown) => void
}

function withResolvers<T>(): PromiseWithResolversOf<T> {
  let resolve: (value: T) => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

/** A provider that gives `value` at once, whatever it is, and keeps what it was handed. */
export function providerOf(value: unknown): UserQuestionProvider & { readonly requests: ProviderRequest[] } {
  const requests: ProviderRequest[] = []
  return {
    requests,
    ask(request) {
      requests.push(request)
      return Promise.resolve(value as AskUserQuestionAnswer)
    },
  }
}

/** Time that stands still until it is told to pass. */
export class HeldClock implements Clock {
  /** How often the time was read. */
  reads = 0
  private time: number
  private readonly alarms = new Set<{ readonly at: number; readonly run: () => void }>()

  constructor(time = 1_000_000) {
    this.time = time
  }

  now(): number {
    this.reads += 1
    return this.time
  }

  after(delayMs: number, run: () => void): () => void {
    const alarm = { at: this.time + delayMs, run }
    this.alarms.add(alarm)
    return () => void this.alarms.delete(alarm)
  }

  pass(ms: number): void {
    this.time += ms
    for (const alarm of [...this.alarms].filter(({ at }) => at <= this.time)) {
      this.alarms.delete(alarm)
      alarm.run()
    }
  }

  /** How many timers are left running. */
  get armed(): number {
    return this.alarms.size
  }
}

export interface Told {
  readonly asked: PendingAsk[]
  readonly settled: SettledAsk[]
}

/** Keeps what listeners of the two events are told. */
export function listen(ctx: Context): Told {
  const told: Told = { asked: [], settled: [] }
  ctx.on('user-questions/asked', ask => void told.asked.push(ask))
  ctx.on('user-questions/settled', ask => void told.settled.push(ask))
  return told
}

/** The error an ask rejects with. Fails when it resolves, or rejects with anything but an error of the seam. */
export async function refusal(asking: Promise<unknown>): Promise<AnyUserQuestionError> {
  const thrown: unknown = await asking.then(
    answer => expect.fail(`expected a rejection, got ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  )
  if (!UserQuestionError.isInstance(thrown)) throw thrown
  return thrown
}

/** Lets everything that is already on its way happen. */
export function settleDown(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve)
  })
}

export function abortListeners(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length
}

/** Fails each test of the file after which a rejection was left unhandled. */
export function allowNoUnhandledRejection(): void {
  const unhandled: unknown[] = []
  process.on('unhandledRejection', reason => unhandled.push(reason))
  afterEach(async () => {
    await settleDown()
    expect(unhandled.splice(0)).toEqual([])
  })
}
