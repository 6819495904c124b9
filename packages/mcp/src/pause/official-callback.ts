import type { ServerContext } from '@modelcontextprotocol/server'
import type { PauseContext } from './handlers.ts'

/** What a callback of the official server is given, for tools and prompts. */
export type Received = readonly [args: unknown, ctx: ServerContext]

/** The official server hands over the context alone where there is no schema for arguments. */
export function inOrder<Result>(callback: (...received: Received) => Promise<Result>): unknown {
  return (...received: readonly unknown[]): Promise<Result> =>
    callback(received.length > 1 ? received[0] : undefined, received.at(-1) as ServerContext)
}

/** A handler as it is called in every round; without a schema it too takes the context alone. */
export function handlerOf(handler: unknown, schema: unknown, args: unknown): (ctx: PauseContext) => unknown {
  return schema === undefined
    ? (handler as (ctx: PauseContext) => unknown)
    : ctx => (handler as (args: unknown, ctx: PauseContext) => unknown)(args, ctx)
}

type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** The members that were given: the official types tell one that is undefined from one that is absent. */
export function given<T extends object>(config: T): Given<T> {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as Given<T>
}
