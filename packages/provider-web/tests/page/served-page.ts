import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryMedium, MemoryStore, type InboxConfig } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import {
  pageUrl,
  type InboxClient,
  type InboxServerOptions,
  type PublicSettlement,
} from '@handraise/provider-web'
import type { Question } from '@handraise/user-questions'
import { onTestFinished } from 'vitest'
import { DB, quietPort, serve } from '../served.ts'

export { DB } from '../served.ts'

/** A directory that is gone when the test is. */
export function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'handraise-page-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

export interface ServedPage {
  /** The page's address, with its token; of one request alone, when it is named. */
  url(request?: string): string
  readonly client: InboxClient
  readonly served: Awaited<ReturnType<typeof serve>>
  /** Asks under a key, so that it stays through a restart. Returns the request's id. */
  ask(questions?: readonly Question[], more?: object): Promise<string>
  /** How the request ended, once it did. */
  ending(id: string): Promise<PublicSettlement>
  /** Answers it as another process on the same store does, while nothing is served. For the memory store alone. */
  answerUnseen(id: string, label: string): Promise<void>
  /** Closes the server and what is behind it, as the end of its process does. */
  stop(): Promise<void>
  /** Serves the same inbox again, at the same port and with the same token. */
  start(options?: Partial<Omit<InboxServerOptions, 'inbox'>>): Promise<void>
}

/** An inbox with its page, which can be stopped and started again. */
export async function servePage({
  sqlite = false,
  inbox = {},
  ...options
}: Partial<Omit<InboxServerOptions, 'inbox'>> & {
  sqlite?: boolean
  inbox?: InboxConfig
} = {}): Promise<ServedPage> {
  const home = directory()
  const medium = new MemoryMedium()
  const store = () => (sqlite ? openSqliteStore({ file: join(home, 'inbox.db') }) : new MemoryStore(medium))
  const begin = async (port?: number, more: Partial<Omit<InboxServerOptions, 'inbox'>> = {}) =>
    serve({
      inbox: { store: await store(), ...inbox },
      // The state file remembers both for the next start.
      token: undefined,
      stateFile: join(home, 'server.json'),
      port,
      ...options,
      ...more,
    })
  let served = await begin(options.port ?? (await quietPort()))
  let asked = 0
  return {
    url: request => pageUrl(served.server, { request }),
    get client() {
      return served.client
    },
    get served() {
      return served
    },
    ask: (questions = [DB], more = {}) => served.ask(questions, { key: `asked-${(asked += 1)}`, ...more }),
    async ending(id) {
      return (await served.client.wait(id, { signal: AbortSignal.timeout(8_000) })).settlement
    },
    async stop() {
      await served.server.close()
      await served.fiber.dispose()
    },
    async answerUnseen(id, label) {
      const settlement = {
        outcome: 'answered' as const,
        answer: { answers: [{ id: 'db', selected: [label] }] },
        by: 'user' as const,
        surface: 'terminal',
        commandId: 'unseen',
        settledAt: Date.now(),
      }
      await new MemoryStore(medium).settle({ id, settlement, digest: 'unseen' })
    },
    async start(more) {
      served = await begin(undefined, more)
    },
  }
}
