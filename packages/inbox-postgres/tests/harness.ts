import type { Socket } from 'node:net'
import type { InboxStore } from '@handraise/inbox'
import {
  openPostgresStore,
  type PgClient,
  type PgClientClass,
  type PgConfig,
  type PgQuery,
  type PostgresStoreOptions,
} from '@handraise/inbox-postgres'
import pg from 'pg'
import { inject } from 'vitest'

/** Where the database server of this run is. */
export async function serverUrl(): Promise<string> {
  const response = await fetch(inject('postgresDesk'))
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

let made = 0

/** A schema of its own in the database of the run. */
export async function makeSchema(): Promise<{
  url: string
  schema: string
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  remove(): Promise<void>
}> {
  const url = await serverUrl()
  const schema = `test_${process.pid}_${Date.now().toString(36)}_${(made += 1)}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    url,
    schema,
    async sql(text, values) {
      await client.query(`SET search_path = ${schema}`)
      return (await client.query<Record<string, unknown>>(text, values)).rows
    },
    async remove() {
      await client.query('SET client_min_messages = warning')
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
      await client.end()
    },
  }
}

/** `Client` of `pg` that can be cut off as a killed process is: its sockets end at once, and it makes no new ones. */
export function mortalClient(): { Client: PgClientClass; pids(): number[]; kill(): void } {
  const clients = new Set<Mortal>()
  let dead = false
  class Mortal implements PgClient {
    readonly client: pg.Client
    private readonly socket: Socket
    pid: number | undefined

    constructor(config: PgConfig) {
      this.socket = config.stream()
      this.client = new pg.Client({ ...config, stream: () => this.socket })
      clients.add(this)
    }

    async connect(): Promise<void> {
      // As a server refuses a user: nobody tries that again.
      if (dead) throw Object.assign(new Error('killed'), { code: '28000', severity: 'FATAL' })
      await this.client.connect()
      const { rows } = await this.client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      this.pid = rows[0]?.pid
    }

    query(query: PgQuery): Promise<{ rows: readonly unknown[] }> {
      return this.client.query(query)
    }

    end(): Promise<void> {
      return this.client.end()
    }

    on(event: string, listener: (...args: never[]) => void): unknown {
      return this.client.on(event as 'end', listener)
    }

    kill(): void {
      this.socket.destroy()
    }
  }
  return {
    Client: Mortal,
    pids: () => [...clients].flatMap(({ pid }) => pid ?? []),
    kill() {
      dead = true
      for (const client of clients) client.kill()
    },
  }
}

/** Resolves when the server's processes have ended. A statement that one had received is carried out before. */
export async function ended(
  sql: Awaited<ReturnType<typeof makeSchema>>['sql'],
  pids: number[],
): Promise<void> {
  const end = performance.now() + 10_000
  while ((await sql('SELECT pid FROM pg_stat_activity WHERE pid = ANY($1)', [pids])).length > 0) {
    if (performance.now() > end) throw new Error('the processes of a killed store go on')
  }
}

/** Opens a store that can be killed. */
export async function openMortal(
  options: PostgresStoreOptions,
): Promise<{ store: InboxStore; pids(): number[]; kill(): void }> {
  const { Client, pids, kill } = mortalClient()
  return { store: await openPostgresStore({ ...options, client: Client }), pids, kill }
}
