import type { Socket } from 'node:net'

/** What this package tells a client of `pg`. */
export interface PgConfig {
  readonly connectionString: string
  readonly application_name: string
  readonly keepAlive: true
  readonly keepAliveInitialDelayMillis: number
  readonly stream: () => Socket
}

export interface PgQuery {
  /** Names the statement, so that each connection prepares it once. */
  readonly name?: string
  readonly text: string
  readonly values?: unknown[]
}

export interface PgNotification {
  /** Of the server's process that notified. */
  readonly processId: number
}

/** What this package uses of a client of `pg`. */
export interface PgClient {
  connect(): Promise<unknown>
  query(query: PgQuery): Promise<{ readonly rows: readonly unknown[] }>
  end(): Promise<void>
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  on(event: 'notification', listener: (notification: PgNotification) => void): unknown
}

/** Makes a connection. `Client` of `pg` is one. */
export type PgClientClass = new (config: PgConfig) => PgClient
