import type { Context } from 'cordis'
import type {} from '@handraise/user-questions'
import type { AcpClient } from './client.ts'
import { acpProvider, type AcpOptions } from './provider.ts'

export const name = 'acp'

export const inject = ['userQuestions']

export interface AcpConfig extends AcpOptions {
  readonly client: AcpClient
}

/**
 * Registers a provider that asks through the editor, until the plugin is disposed. To cancel what a session asks, make it
 * with `acpProvider` and register that instead.
 */
export function apply(ctx: Context, { client, ...options }: AcpConfig): void {
  ctx.userQuestions.registerProvider(acpProvider(client, options))
}
