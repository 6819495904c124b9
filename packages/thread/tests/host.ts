import { InboxService, MemoryMedium, MemoryStore, type InboxConfig } from '@handraise/inbox'
import { UserApprovalService } from '@handraise/user-approvals'
import { UserQuestionService, type Clock, type Question } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, onTestFinished } from 'vitest'
import * as thread from '../src/index.ts'
import { MemoryThread, type ThreadItem, type ThreadOptions, type UnansweringReason } from '../src/index.ts'

export const DB: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}

export const TARGET: Question = {
  id: 'target',
  question: "What's the deployment target?",
  options: [
    { label: 'staging', description: 'push to staging.example.com' },
    { label: 'production', description: 'push to www.example.com' },
  ],
}

export interface HostConfig {
  readonly medium?: MemoryMedium
  readonly inbox?: InboxConfig
}

/** A host with an inbox on a medium that outlives it, and approvals. */
export async function startHost({ medium = new MemoryMedium(), inbox: config = {} }: HostConfig = {}) {
  const ctx = new Context()
  const reported: unknown[] = []
  ctx.logger.exporter({ export: message => void reported.push(...message.args) })
  await ctx.plugin(UserQuestionService, config.clock === undefined ? {} : { clock: config.clock })
  const fiber = await ctx.plugin(InboxService, { store: new MemoryStore(medium), ...config })
  await ctx.plugin(UserApprovalService)
  onTestFinished(() => fiber.dispose())
  return { ctx, fiber, medium, reported, inbox: ctx.inbox.core }
}

export interface Handed {
  readonly text: string
  readonly why: UnansweringReason
}

/** A host that asks in a thread, with somebody else in it. */
export async function startThread({
  chat = new MemoryThread('agent'),
  medium,
  inbox,
  ...options
}: HostConfig & { chat?: MemoryThread } & Partial<ThreadOptions> = {}) {
  const host = await startHost({ ...(medium && { medium }), ...(inbox && { inbox }) })
  const handed: Handed[] = []
  const attached = await host.ctx.plugin(thread, {
    store: chat,
    onMessage: (item, why) => void handed.push({ text: thread.textOf(item), why }),
    ...options,
  })
  const ada = chat.as('ada')
  const ask = (questions: readonly Question[] = [DB], more: object = {}) => {
    const asking = host.ctx.userQuestions.ask({ questions, ...more })
    // Not every test waits for the end.
    asking.catch(() => {})
    return asking
  }
  return { ...host, chat, ada, handed, attached, ask, ...looksAt(chat) }
}

/** What tests want to know of a thread. */
export function looksAt(chat: MemoryThread) {
  const ofType = (type: string) => () =>
    chat.items.filter(({ metadata }) => (metadata as { type?: string } | undefined)?.type === type)
  const prompts = ofType('pending_prompt')
  const resolved = ofType('pending_prompt_resolved')
  /** Resolves with the prompt of this number once it is there. */
  const prompted = async (count = 1): Promise<ThreadItem> => {
    await expect.poll(() => prompts().length, { interval: 5 }).toBe(count)
    return prompts().at(-1)!
  }
  /** Resolves with the resolution of this number once it is there. */
  const audited = async (count = 1): Promise<ThreadItem> => {
    await expect.poll(() => resolved().length, { interval: 5 }).toBe(count)
    return resolved().at(-1)!
  }
  return { prompts, resolved, prompted, audited }
}

export function promptOf({ metadata }: ThreadItem): Record<string, unknown> {
  return (metadata as { prompt: Record<string, unknown> }).prompt
}

/** Time that moves only when it is told to. */
export class ManualClock implements Clock {
  private time = 1_700_000_000_000
  private readonly timers = new Set<{ at: number; run: () => void }>()

  now(): number {
    return this.time
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.time + delayMs, run }
    this.timers.add(timer)
    return () => void this.timers.delete(timer)
  }

  /** How many wait for their time. */
  get armed(): number {
    return this.timers.size
  }

  async advance(ms: number): Promise<void> {
    await settled()
    const until = this.time + ms
    for (;;) {
      const [next] = [...this.timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)
      if (next === undefined) break
      this.timers.delete(next)
      this.time = Math.max(this.time, next.at)
      next.run()
      await settled()
    }
    this.time = until
    await settled()
  }
}

/** Lets everything that waits for nothing but its turn run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await new Promise(resolve => setImmediate(resolve))
}

/** A thread whose posts fail as they are told to. */
export class FailingThread extends MemoryThread {
  /** What becomes of the posts to come, in order: it fails without a trace, or after it landed. None: it is posted. */
  readonly faults: Array<'before' | 'after'> = []
  /** Every post fails while it is set. */
  isDown = false
  /** Every read fails while it is set. */
  isUnreadable = false
  tries = 0

  override async post(draft: Parameters<MemoryThread['post']>[0]): Promise<ThreadItem> {
    this.tries += 1
    if (this.isDown) throw new Error('the chat is down')
    const fault = this.faults.shift()
    if (fault === 'before') throw new Error('refused')
    const item = await super.post(draft)
    if (fault === 'after') throw new Error('no reply')
    return item
  }

  override async since(...args: Parameters<MemoryThread['since']>): ReturnType<MemoryThread['since']> {
    if (this.isUnreadable) throw new Error('the chat is down')
    return super.since(...args)
  }
}
