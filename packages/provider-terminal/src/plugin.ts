import type { Context } from 'cordis'
import type {} from '@handraise/user-questions'
import { terminalProvider, type TerminalOptions } from './provider.ts'

export const name = 'provider-terminal'

export const inject = ['userQuestions']

/** Registers a provider for this terminal, until the plugin is disposed. */
export function apply(ctx: Context, options: TerminalOptions = {}): void {
  ctx.userQuestions.registerProvider(terminalProvider(options))
}
