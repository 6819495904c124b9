import { Socket } from 'node:net'
import type { PgClient, PgClientClass, PgNotification } from './client.ts'
import { ConnectionLost, NotConnected, sqlStateOf } from './error.ts'

/** A statement that each connection prepares once. */
export interface Statement {
  readonly name: string
  readonly text: string
}

export interface ConnectOptions {
  readonly Client: PgClientClass
  readonly url: string
  readonly schema: string
  readonly connectTimeoutMs: number
  readonly queryTimeoutMs: number
}

/** How long a connection may be idle before the system asks whether the other end is there, in milliseconds. */
const KEEP_ALIVE_AFTER_MS = 10_000
/** How long to wait for a polite end, in milliseconds. */
const END_WITHIN_MS = 1_000

/**
 * The planner is told to use the indices: every statement has one that fits, and a plan that was made while a table was
 * empty is used when it is not.
 */
const SET_UP = `SELECT pg_backend_pid() AS pid,
  set_config('search_path', $1, false), set_config('statement_timeout', $2, false),
  set_config('idle_in_transaction_session_timeout', $2, false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('plan_cache_mode', 'force_generic_plan', false), set_config('jit', 'off', false),
  set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
  set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false),
  CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END`

interface Live {
  readonly client: PgClient
  readonly socket: Socket
  /** Of the server's process at the other end. */
  readonly pid: number
}

/**
 * One connection to the database, made when it is first needed and again after it was lost. Statements run one after the
 * other; each ends within a time, and one that does not takes the connection with it.
 */
export class Connection {
  private readonly options: ConnectOptions
  private live: Live | undefined
  private turn: Promise<unknown> = Promise.resolve()
  private waiting = 0
  private closed = false
  private readonly onNotification: ((notification: PgNotification) => void) | undefined
  private readonly onLost: (() => void) | undefined

  constructor(
    options: ConnectOptions,
    {
      onNotification,
      onLost,
    }: { onNotification?: (notification: PgNotification) => void; onLost?: () => void } = {},
  ) {
    this.options = options
    this.onNotification = onNotification
    this.onLost = onLost
  }

  /** How many statements run or wait here. */
  get load(): number {
    return this.waiting
  }

  /** The server's process at the other end, while there is one. */
  get pid(): number | undefined {
    return this.live?.pid
  }

  /** The rows. Rejects as `failureOf` tells apart. */
  async run(
    statement: Statement | string,
    values: unknown[] = [],
    timeoutMs = this.options.queryTimeoutMs,
  ): Promise<readonly unknown[]> {
    this.waiting += 1
    const before = this.turn
    const ran = before.then(() => this.runNow(statement, values, timeoutMs))
    this.turn = ran.then(nothing, nothing)
    try {
      return await ran
    } finally {
      this.waiting -= 1
    }
  }

  /** Ends it once what was given has run. */
  async close(): Promise<void> {
    const { turn } = this
    this.closed = true
    await turn
    const { live } = this
    this.live = undefined
    if (live === undefined) return
    await within(live.client.end(), END_WITHIN_MS).catch(() => {})
    live.socket.destroy()
  }

  private async runNow(
    statement: Statement | string,
    values: unknown[],
    timeoutMs: number,
  ): Promise<readonly unknown[]> {
    const live = this.live ?? (await this.connect())
    const query = typeof statement === 'string' ? { text: statement, values } : { ...statement, values }
    live.socket.ref()
    try {
      const { rows } = await within(live.client.query(query), timeoutMs)
      return rows
    } catch (error) {
      if (sqlStateOf(error) !== undefined) throw error
      this.drop(live)
      throw new ConnectionLost(messageOf(error), { cause: error })
    } finally {
      // Between statements a connection alone keeps no process running.
      live.socket.unref()
    }
  }

  private async connect(): Promise<Live> {
    const { Client, url, schema, connectTimeoutMs, queryTimeoutMs } = this.options
    if (this.closed) throw new NotConnected('the store is closed')
    const socket = new Socket()
    let client: PgClient | undefined
    try {
      client = new Client({
        connectionString: url,
        application_name: 'handraise',
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
        stream: () => socket,
      })
      client.on('error', () => socket.destroy())
      if (this.onNotification !== undefined) client.on('notification', this.onNotification)
      const connected = client
      const rows = await within(
        (async () => {
          await connected.connect()
          // On the server as well, so that what nobody waits for any more does not go on.
          const { rows: settings } = await connected.query({
            text: SET_UP,
            values: [schema, String(queryTimeoutMs)],
          })
          return settings
        })(),
        connectTimeoutMs,
      )
      const live = { client, socket, pid: (rows[0] as { pid: number }).pid }
      this.live = live
      client.on('end', () => this.drop(live))
      return live
    } catch (error) {
      socket.destroy()
      throw new NotConnected(messageOf(error), { cause: error })
    }
  }

  private drop(live: Live): void {
    live.socket.destroy()
    if (this.live !== live) return
    this.live = undefined
    this.onLost?.()
  }
}

function nothing(): void {}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  promise.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
