export interface TcpProxy {
  readonly port: number
  /** How many connections go through. */
  readonly connections: number
  /** How many were ever made. */
  readonly made: number
  /** Ends every connection at once. */
  cut(): void
  /** Lets no byte through in the direction, or in neither, and tells nobody. */
  hold(direction?: 'toServer' | 'toClient'): void
  /** Takes nothing more from the hosts. */
  stall(): void
  /** Delivers every byte so much later. */
  slow(delayMs: number): void
  /** Delivers what was held back, and goes on as a good network does. */
  mend(): void
  stop(): Promise<void>
}

/** Stands between a host and the database at `port` of this machine, and does what a bad network does. */
export function startProxy(port: number): Promise<TcpProxy>
