import type {} from '@handraise/inbox'
import { showOn, type InboxRequest } from '@handraise/inbox'
import type { Clock } from '@handraise/user-questions'
import type { Context } from 'cordis'
import type { MessageHandler } from './hand-on.ts'
import { ThreadLoop } from './loop.ts'
import type { SeveralPolicy } from './read-reply.ts'
import type { ThreadStore } from './thread-store.ts'

export interface ThreadOptions {
  readonly store: ThreadStore
  /** Names the thread in the records of the inbox. Default `thread`. */
  readonly threadId?: string | undefined
  /** Which requests are shown here. Default: all. */
  readonly takes?: ((request: InboxRequest) => boolean) | undefined
  /** What a request does while another one is open in the thread: it waits, or it cancels that one. Default `wait`. */
  readonly whenBusy?: 'wait' | 'supersede' | undefined
  /**
   * What one text is to several questions: the answer to each of them (seed 004), or to none, and the missing ones are asked
   * one by one. Default `same`.
   */
  readonly several?: SeveralPolicy | undefined
  /** Whose items may answer a request. Default: everybody's but the worker's own. */
  readonly mayAnswer?: ((author: string, request: InboxRequest) => boolean) | undefined
  /**
   * Told of each item of another author that answered nothing, and why: at least once, one after the other, in order. What it
   * throws is reported. It may take its time; what it has not finished is handed on again after a restart.
   */
  readonly onMessage?: MessageHandler | undefined
  /** Where to read from while the inbox has no record of the thread. Default: after the earliest open prompt, else the end. */
  readonly from?: 'start' | { readonly cursor: string } | undefined
  /** Default: that of the inbox. */
  readonly clock?: Clock | undefined
}

/**
 * Asks in a thread whatever is pending in `ctx.inbox`, and answers with the replies, until the calling plugin is disposed or
 * the returned function is called. Resolves once the thread was read, or could not be read at the first try, which is
 * reported and goes on. Rejects with `ThreadError` `THREAD_IN_USE` while another attachment has the thread.
 */
export async function attachThread(ctx: Context, options: ThreadOptions): Promise<() => Promise<void>> {
  const { core } = ctx.inbox
  const report = (error: unknown): void => ctx.logger.error(error)
  const loop = new ThreadLoop({
    inbox: core,
    store: options.store,
    threadId: options.threadId ?? 'thread',
    takes: options.takes ?? (() => true),
    whenBusy: options.whenBusy ?? 'wait',
    several: options.several ?? 'same',
    mayAnswer: options.mayAnswer ?? (() => true),
    onMessage: options.onMessage,
    from: options.from,
    clock: options.clock ?? core.clock,
    report,
  })
  const stops: (() => void)[] = []
  let isOver = false
  // What cannot be ended keeps nothing else from ending.
  const end = (stop: () => unknown): void => {
    try {
      const ending = stop()
      if (ending instanceof Promise) ending.catch(report)
    } catch (error) {
      report(error)
    }
  }
  const started = (stop: () => void): void => {
    if (isOver) end(stop)
    else stops.push(stop)
  }
  const dispose = ctx.effect(
    () => async () => {
      isOver = true
      const stopping = loop.stop()
      for (const stop of stops) end(stop)
      await stopping
    },
    'attachThread()',
  )
  try {
    await loop.claim()
    started(loop.follow())
    started(await showOn(loop.surface(), core, report))
    if (!isOver) started(ctx.userQuestions.registerProvider(loop.provider()))
    loop.start()
    await loop.begun
  } catch (error) {
    await dispose()
    throw error
  }
  return async () => {
    await dispose()
  }
}
