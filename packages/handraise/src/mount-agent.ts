import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SessionAgent } from '@handraise/wire'
import type { Context } from 'cordis'
import { CommandError } from './command-error.ts'

/** The default export of an agent's module: the agent, or what makes it and may register tools on `ctx.tools`. */
type AgentExport = SessionAgent | ((ctx: Context) => SessionAgent | Promise<SessionAgent>)

/** Loads the agent of an ES module, and makes it in a plugin of its own. Rejects with `BAD_CONFIG` when there is none. */
export async function mountAgent(ctx: Context, module: string): Promise<SessionAgent> {
  const file = resolve(module)
  const exported = await load(file)
  let agent: unknown
  try {
    await ctx.plugin({
      name: 'agent',
      inject: ['tools', 'userQuestions', 'userApprovals', 'inbox'],
      async apply(inner: Context) {
        agent = typeof exported === 'function' ? await exported(inner) : exported
      },
    })
  } catch (cause) {
    throw noAgent(file, `its default export failed: ${messageOf(cause)}`, cause)
  }
  if (isAgent(agent)) return agent
  throw noAgent(
    file,
    'its default export is neither an agent, with a function `run`, nor a function that gives one',
  )
}

async function load(file: string): Promise<AgentExport> {
  // What it imports may be missing too, and Node says both in one way.
  if (!existsSync(file)) throw noAgent(file, 'there is no such file')
  try {
    return ((await import(pathToFileURL(file).href)) as { readonly default: AgentExport }).default
  } catch (cause) {
    throw noAgent(file, messageOf(cause), cause)
  }
}

function isAgent(value: unknown): value is SessionAgent {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function'
}

function noAgent(file: string, why: string, cause?: unknown): CommandError {
  return new CommandError('BAD_CONFIG', `no agent comes from ${file}: ${why}`, { cause })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
