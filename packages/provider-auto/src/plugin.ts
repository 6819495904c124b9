import type { Context } from 'cordis'
import type {} from '@handraise/user-questions'
import { autoProvider, type AutoOptions } from './provider.ts'

export const name = 'provider-auto'

export const inject = ['userQuestions']

/** Registers an auto provider; to read its transcript, make it with `autoProvider` and register that instead. */
export function apply(ctx: Context, options: AutoOptions = {}): void {
  ctx.userQuestions.registerProvider(autoProvider(options))
}
