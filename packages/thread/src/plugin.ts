import type { Context } from 'cordis'
import { attachThread, type ThreadOptions } from './attach.ts'

export const name = 'thread'

export const inject = ['inbox', 'userQuestions']

/** Asks in a thread, until the plugin is disposed. */
export async function apply(ctx: Context, options: ThreadOptions): Promise<void> {
  await attachThread(ctx, options)
}
