import type { Answer } from '@handraise/user-questions/types'
import type { Context } from 'cordis'
import { InboxError } from '../error.ts'
import type { Command, Decision } from '../decision.ts'
import type { Inbox } from '../inbox.ts'
import { isSettled, type InboxRequest, type SettledRequest } from '../request.ts'
import type { LogEntry } from '../store.ts'
import type {
  AttachedSurface,
  ShownEnding,
  ShownRequest,
  SurfaceHarness,
  SurfaceResult,
} from './surface-harness.ts'

/** Many more than wait for a person. */
const PAGE = 100
/** How long to wait with the next try when the store could not be read, in milliseconds. */
const RETRY_MS = 50

/** A surface that keeps every promise, as small as it can be: it lists, follows by a cursor, and may be cut off. */
export class FaithfulSurface implements AttachedSurface {
  protected readonly inbox: Inbox
  protected visible: ShownRequest[] = []
  protected cursor = ''
  private readonly ctx: Context
  private readonly endings = new Map<string, ShownEnding>()
  private unfollow = (): void => {}
  private callOffRetry = (): void => {}
  private isGone = false
  private leave = (): void => {}

  constructor(ctx: Context) {
    this.ctx = ctx
    this.inbox = ctx.inbox.core
  }

  async attach(): Promise<this> {
    const [viewers, ignore] = [() => this.viewers(), () => {}]
    // For whoever asks whether anybody looks. What there is to show is read below, as from afar.
    this.leave = await this.ctx.inbox.attachSurface({
      name: 'example',
      viewers,
      opened: ignore,
      settled: ignore,
    })
    await this.list()
    return this
  }

  shown(): readonly ShownRequest[] {
    return this.visible
  }

  ended(id: string): ShownEnding | undefined {
    return this.endings.get(id)
  }

  answer(id: string, answers: readonly Answer[]): Promise<SurfaceResult> {
    return this.decide(id, { outcome: 'answered', answer: { answers } })
  }

  decline(id: string): Promise<SurfaceResult> {
    return this.decide(id, { outcome: 'declined' })
  }

  engage(id: string): Promise<void> {
    return this.inbox.engage(id)
  }

  async disconnect(): Promise<() => Promise<void>> {
    this.stop()
    return () => this.follow()
  }

  detach(): void {
    this.isGone = true
    this.callOffRetry()
    this.stop()
    this.leave()
  }

  protected viewers(): number {
    return 1
  }

  protected async list(): Promise<void> {
    this.cursor = await this.inbox.store.end()
    const pending = await this.pending()
    for (const { id } of this.visible) if (!pending.some(request => request.id === id)) this.takeDown(id)
    for (const request of pending) this.show(request)
    await this.follow()
  }

  protected async pending(): Promise<InboxRequest[]> {
    const requests: InboxRequest[] = []
    let after: string | undefined
    do {
      const page = await this.inbox.list({ state: 'pending', limit: PAGE, after })
      requests.push(...page.requests)
      after = page.next
    } while (after !== undefined)
    return requests
  }

  protected async follow(): Promise<void> {
    const entry = (told: LogEntry): void => this.heard(told)
    let isLost = false
    const lost = (): void => {
      isLost = true
      this.lost()
    }
    const unfollow = await this.inbox.follow({ entry, lost }, this.cursor)
    if (isLost || this.isGone) unfollow()
    else this.unfollow = unfollow
  }

  protected stop(): void {
    this.unfollow()
  }

  protected heard({ cursor, request }: LogEntry): void {
    this.cursor = cursor
    if (isSettled(request)) this.end(request)
    else this.show(request)
  }

  protected lost(): void {
    this.stop()
    this.listAnew()
  }

  protected listAnew(): void {
    if (this.isGone) return
    this.list().catch(() => {
      this.callOffRetry = this.inbox.clock.after(RETRY_MS, () => this.listAnew())
    })
  }

  protected show(request: InboxRequest): void {
    if (this.visible.some(({ id }) => id === request.id)) return
    const [first] = this.inbox.kindOf(request)?.asQuestions(request.payload) ?? []
    if (first === undefined) return
    this.visible = [...this.visible, { id: request.id, question: this.written(first.question) }]
  }

  protected written(text: string): string {
    return text
  }

  protected end({ id, settlement }: SettledRequest): void {
    if (!this.visible.some(request => request.id === id)) return
    this.takeDown(id)
    this.endings.set(id, this.toldOf(settlement))
  }

  protected takeDown(id: string): void {
    this.visible = this.visible.filter(request => request.id !== id)
  }

  protected toldOf({ outcome, surface }: SettledRequest['settlement']): ShownEnding {
    return { outcome, surface }
  }

  protected async decide(id: string, decision: Decision): Promise<SurfaceResult> {
    try {
      await this.send(id, decision, { commandId: crypto.randomUUID(), surface: 'example' })
      return { result: 'settled' }
    } catch (error) {
      if (!InboxError.isInstance(error) || error.code !== 'ALREADY_SETTLED') throw error
      const { settlement } = error.details.request
      return this.late(settlement)
    }
  }

  protected async send(id: string, decision: Decision, command: Command): Promise<void> {
    await this.inbox.decide(id, decision, command)
  }

  protected late(settlement: SettledRequest['settlement']): SurfaceResult {
    return { result: 'late', ended: this.toldOf(settlement) }
  }
}

export const faithfulSurface: SurfaceHarness = surfacesOf(FaithfulSurface)

export function surfacesOf(
  Surface: new (ctx: Context) => FaithfulSurface,
  limits: Partial<SurfaceHarness> = {},
): SurfaceHarness {
  return { ...limits, attach: ctx => new Surface(ctx).attach() }
}
