import { Service, type Context } from 'cordis'
import type {} from '@handraise/user-questions'
import { FanOut, type ViewerPolicy } from './fan-out.ts'
import { Inbox, type InboxOptions, type OpenOptions } from './inbox.ts'
import type { RequestKind } from './kind.ts'
import { MemoryStore } from './memory-store.ts'
import type { SettledRequest } from './request.ts'
import type { InboxStore } from './store.ts'
import { showOn, type InboxSurface } from './surface.ts'

declare module 'cordis' {
  interface Context {
    inbox: InboxService
  }
}

export interface InboxConfig extends Omit<InboxOptions, 'store' | 'report'> {
  /** Default: in memory, as lasting as this process. */
  readonly store?: InboxStore | undefined
  /** What becomes of a question that nobody could see. Default `wait`. */
  readonly viewer?: ViewerPolicy | undefined
}

/**
 * `ctx.inbox`: keeps what is asked until it is settled, for as long as the store lasts, and shows it on every provider
 * and surface. Takes the place of the one provider of `ctx.userQuestions`.
 */
export class InboxService extends Service {
  static readonly inject = ['userQuestions']

  /** The inbox itself, for surfaces: open, decide, list, follow. */
  readonly core: Inbox
  private readonly surfaces = new Set<InboxSurface>()
  private readonly fanOut: FanOut

  constructor(ctx: Context, { store = new MemoryStore(), viewer = 'wait', ...options }: InboxConfig = {}) {
    super(ctx, 'inbox')
    const report = (error: unknown): void => ctx.logger.error(error)
    const { surfaces } = this
    const viewersOf = (surface: InboxSurface): number => {
      try {
        return surface.viewers()
      } catch (error) {
        report(error)
        return 0
      }
    }
    const viewers = (): number => Array.from(surfaces, viewersOf).reduce((sum, count) => sum + count, 0)
    this.core = new Inbox({ ...options, store, report })
    this.fanOut = new FanOut(this.core, viewer, { viewers, count: () => surfaces.size }, report)
  }

  async *[Service.init](): AsyncGenerator<() => unknown, void, void> {
    await this.core.start()
    yield () => this.core.close()
    yield attachTo(this.ctx, this.fanOut)
  }

  /** Shows a surface all that is pending, then all that changes, until the calling plugin is disposed. */
  async attachSurface(surface: InboxSurface): Promise<() => void> {
    const { surfaces, core, ctx } = this
    const report = (error: unknown): void => ctx.logger.error(error)
    let stop = (): void => {}
    let disposed = false
    const dispose = ctx.effect(
      () => () => {
        disposed = true
        surfaces.delete(surface)
        stop()
      },
      'inbox.attachSurface()',
    )
    surfaces.add(surface)
    try {
      stop = await showOn(surface, core, report)
    } catch (error) {
      void dispose()
      throw error
    }
    if (disposed) stop()
    return () => void dispose()
  }

  /**
   * Opens a request of any kind, or joins the one of its key, shows it on every provider and surface, and resolves when
   * it is settled, whichever way. Rejects with the signal's reason when that aborts first, with `InboxError` as `open`
   * does, and with `UserQuestionError` `ASK_UNAVAILABLE` or the last provider's fault when nobody could be asked. `calledAt`
   * is when it was asked for, by `performance.now()`; default: now.
   */
  request(
    opening: OpenOptions,
    signal: AbortSignal = new AbortController().signal,
    calledAt?: number,
  ): Promise<SettledRequest> {
    return this.fanOut.request(opening, signal, calledAt)
  }

  /** Lets requests of a kind be answered, until the calling plugin is disposed. */
  registerKind(kind: RequestKind): () => void {
    const { core } = this
    const dispose = this.ctx.effect(() => core.registerKind(kind), 'inbox.registerKind()')
    return () => void dispose()
  }
}

// A host may bring a seam of its own, which has no slot for an inbox: there it is the one provider.
function attachTo(ctx: Context, fanOut: FanOut): () => void {
  const seam = ctx.userQuestions as Partial<Pick<typeof ctx.userQuestions, 'attach'>> &
    typeof ctx.userQuestions
  return seam.attach ? seam.attach(fanOut) : seam.registerProvider(fanOut)
}
