export interface PostgresServer {
  /** With the name and password of its superuser. */
  readonly url: string
  readonly port: number
  /** Ends it as a power cut does. */
  crash(): Promise<void>
  /** Starts it again after a crash, at the same address. */
  start(): Promise<void>
  /** Ends every connection, stops it and starts it again. */
  restart(): Promise<void>
  /** Stops all its processes in their tracks. */
  pause(): Promise<void>
  resume(): Promise<void>
  stop(): Promise<void>
}

/** Starts a PostgreSQL of its own. It ends with this process at the latest. `settings` are of the form `name=value`. */
export function startPostgres(settings?: readonly string[]): Promise<PostgresServer>
