import { InboxService, MemoryMedium, MemoryStore, type InboxConfig } from '@handraise/inbox'
import {
  UserQuestionService,
  type Clock,
  type ProviderRequest,
  type Question,
} from '@handraise/user-questions'
import { Context } from 'cordis'

export const DB: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}

/** A host with a seam and an inbox on a medium that outlives it. */
export async function startHost(medium = new MemoryMedium(), config: InboxConfig = {}) {
  const ctx = new Context()
  const reported: unknown[] = []
  ctx.logger.exporter({ export: message => void reported.push(...message.args) })
  await ctx.plugin(UserQuestionService, config.clock === undefined ? {} : { clock: config.clock })
  const fiber = await ctx.plugin(InboxService, { store: new MemoryStore(medium), ...config })
  return { ctx, fiber, medium, reported, inbox: ctx.inbox.core }
}

/** A provider that is answered by hand. */
export function manualProvider(name: string) {
  const shown: Array<{
    request: ProviderRequest
    answer: (label: string) => void
    reject: (error: unknown) => void
  }> = []
  return {
    name,
    shown,
    ask: (request: ProviderRequest) =>
      new Promise<{ answers: Array<{ id: string; selected: string[] }> }>((resolve, reject) => {
        shown.push({
          request,
          reject,
          answer: label =>
            resolve({ answers: request.questions.map(({ id }) => ({ id, selected: [label] })) }),
        })
      }),
  }
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

  async advance(ms: number): Promise<void> {
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
  for (let turn = 0; turn < 20; turn += 1) await new Promise(resolve => setImmediate(resolve))
}
