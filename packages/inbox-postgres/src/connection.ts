import { Socket } from 'node:net'
import type { PgClient, PgClientClass, PgNotification } from './client.ts'
import { ConnectionLost, NotConnected, READ_ONLY, sqlStateOf, TookTooLong } from './error.ts'

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
  /** How long the server lets a statement run until `share` says something else, in milliseconds. Default: `queryTimeoutMs`. */
  readonly statementMs?: number
}

/** How long a connection may be idle before the system asks whether the other end is there, in milliseconds. */
const KEEP_ALIVE_AFTER_MS = 10_000
/** How much longer to wait than the server lets a statement run, so that it is the server that says so, in milliseconds. */
const SERVER_FIRST_MS = 500
/** How long to wait for a polite end, in milliseconds. */
const END_WITHIN_MS = 1_000

/**
 * The planner is told to use the indices: every statement has one that fits, and a plan that was made while a table was
 * empty is used when it is not.
 */
const SET_UP = `SELECT pg_backend_pid() AS pid,
  set_config('search_path', $1, false), set_config('statement_timeout', $3, false),
  set_config('lock_timeout', '0', false),
  set_config('idle_in_transaction_session_timeout', $2, false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('plan_cache_mode', 'force_generic_plan', false), set_config('jit', 'off', false),
  set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
  set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false),
  set_config('extra_float_digits', '1', false),
  CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END`

export interface RunLimits {
  /** How long the statement may run, in milliseconds. At most, and by default, a little longer than the server lets it. */
  readonly timeoutMs?: number
  /** The instant of `performance.now()` by which it has come to something. Default: none. */
  readonly end?: number
  /**
   * Up to which share of its usual time the server lets the statement run, a power of two; less where `end` is near, so that it is
   * the server that ends it. Default: whatever was set last.
   */
  readonly share?: number
}

const LIMIT: Statement = { name: 'limit', text: "SELECT set_config('statement_timeout', $1, false)" }
/** Below that an attempt is not worth it, in milliseconds. */
const SHORTEST_STATEMENT_MS = 20

interface Live {
  readonly client: PgClient
  readonly socket: Socket
  /** Of the server's process at the other end. */
  readonly pid: number
  /** Whether the socket counts what is sent: not where TLS goes around it. */
  readonly counts: boolean
  /** How long the server lets a statement run, in milliseconds. */
  statementMs: number
}

/**
 * One connection to the database, made when it is first needed and again after it was lost. Statements run one after the
 * other; each ends within a time, and one that does not takes the connection with it.
 */
export class Connection {
  private readonly options: ConnectOptions
  private live: Live | undefined
  /** Under way, for all that wait for it. */
  private making: { readonly socket: Socket; readonly made: Promise<Live> } | undefined
  /** How many connections could not be made, and what was wrong with the last. */
  private failed = 0
  private failure: NotConnected | undefined
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

  /** The rows. Rejects as `failureOf` tells apart. A connection that cannot be made fails all that wait for their turn. */
  async run(
    statement: Statement | string,
    values: unknown[] = [],
    limits: RunLimits = {},
  ): Promise<readonly unknown[]> {
    this.waiting += 1
    const { turn: before, failed } = this
    const ran = before.then(() => {
      if (this.live === undefined && this.failed > failed && this.failure !== undefined) throw this.failure
      return this.runNow(statement, values, limits)
    })
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
    const { live, making } = this
    // Whoever wanted it has given up.
    making?.socket.destroy()
    await making?.made.catch(() => {})
    this.live = undefined
    if (live === undefined) return
    await within(live.client.end(), END_WITHIN_MS).catch(() => {})
    live.socket.destroy()
  }

  /** Ends it at once, and with it what runs or waits its turn. */
  abandon(): void {
    this.closed = true
    this.making?.socket.destroy()
    this.live?.socket.destroy()
  }

  private async runNow(
    statement: Statement | string,
    values: unknown[],
    { timeoutMs = Infinity, end = Infinity, share }: RunLimits,
  ): Promise<readonly unknown[]> {
    if (performance.now() >= end) throw new NotConnected('its time was over before its turn came')
    const live = this.live ?? (await this.connect(end))
    const longestMs = this.options.queryTimeoutMs + SERVER_FIRST_MS
    // Nothing is sent whose answer nobody would wait for.
    const leftMs = end - performance.now()
    if (leftMs <= 0) throw new NotConnected('its time was over when the connection was made')
    const query = typeof statement === 'string' ? { text: statement, values } : { ...statement, values }
    live.socket.ref()
    if (share !== undefined) await this.limit(live, share, leftMs)
    const { bytesWritten: sentBefore } = live.socket
    try {
      const { rows } = await within(live.client.query(query), Math.min(timeoutMs, leftMs, longestMs))
      return rows
    } catch (error) {
      const state = sqlStateOf(error)
      // Of a server that became a standby: its successor is found by connecting again.
      if (state === READ_ONLY) this.drop(live)
      if (state !== undefined) throw error
      const begun = !live.counts || live.socket.bytesWritten > sentBefore
      // The server carries out nothing of a statement that it has not got to the end of.
      const sent = begun && !(live.counts && live.socket.writableLength > 0)
      this.drop(live)
      if (!sent) throw new NotConnected(`${messageOf(error)}; it was not sent`)
      throw new ConnectionLost(messageOf(error), { cause: error })
    } finally {
      // Between statements a connection alone keeps no process running.
      live.socket.unref()
    }
  }

  /** Where it is another limit than before, which is seldom. */
  private async limit(live: Live, share: number, leftMs: number): Promise<void> {
    const { queryTimeoutMs } = this.options
    const statementMs = statementTime(queryTimeoutMs, share, leftMs)
    if (statementMs === live.statementMs) return
    try {
      const setting = live.client.query({ ...LIMIT, values: [String(statementMs)] })
      await within(setting, Math.min(leftMs, queryTimeoutMs))
      live.statementMs = statementMs
    } catch (error) {
      live.socket.unref()
      this.drop(live)
      throw new NotConnected(messageOf(error), { cause: error })
    }
  }

  /** One who has waited long enough leaves the attempt to the others. */
  private async connect(end: number): Promise<Live> {
    if (this.closed) throw new NotConnected('the store is closed')
    if (this.making === undefined) {
      const socket = new Socket()
      // Later, as it may fail before it has waited for anything.
      this.making = { socket, made: Promise.resolve().then(() => this.make(socket)) }
    }
    const { made } = this.making
    if (end === Infinity) return made
    try {
      return await within(made, Math.max(0, end - performance.now()))
    } catch (error) {
      throw error instanceof NotConnected ? error : new NotConnected(messageOf(error), { cause: error })
    }
  }

  private async make(socket: Socket): Promise<Live> {
    const {
      Client,
      url,
      schema,
      connectTimeoutMs,
      queryTimeoutMs,
      statementMs = queryTimeoutMs,
    } = this.options
    let client: PgClient | undefined
    let before = 0
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
          before = socket.bytesWritten
          // On the server as well, so that what nobody waits for any more does not go on.
          const { rows: settings } = await connected.query({
            text: SET_UP,
            values: [`"${schema}"`, String(queryTimeoutMs), String(statementMs)],
          })
          return settings
        })(),
        connectTimeoutMs,
      )
      const { pid } = rows[0] as { pid: number }
      const live = { client, socket, pid, counts: socket.bytesWritten > before, statementMs }
      this.live = live
      // Whoever wanted it may have given up.
      socket.unref()
      client.on('end', () => this.drop(live))
      return live
    } catch (error) {
      socket.destroy()
      this.failed += 1
      this.failure = new NotConnected(messageOf(error), { cause: error })
      throw this.failure
    } finally {
      this.making = undefined
    }
  }

  private drop(live: Live): void {
    live.socket.destroy()
    if (this.live !== live) return
    this.live = undefined
    this.onLost?.()
  }
}

/** In steps, so that it seldom is another than before. */
export function statementTime(queryTimeoutMs: number, share: number, leftMs: number): number {
  const mostMs = Math.max(leftMs - SERVER_FIRST_MS, leftMs / 2)
  let statementMs = queryTimeoutMs * share
  while (statementMs > mostMs && statementMs > SHORTEST_STATEMENT_MS) statementMs /= 2
  return Math.ceil(statementMs)
}

function nothing(): void {}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TookTooLong(`no answer within ${Math.round(ms)} ms`)), ms)
    const ending =
      <A>(settle: (value: A) => void) =>
      (value: A): void => {
        clearTimeout(timer)
        settle(value)
      }
    promise.then(ending(resolve), ending(reject))
  })
}
