import { systemClock } from '@handraise/user-questions/types'
import type { FrameChannel } from '../channel.ts'
import {
  initializeResultSchema,
  type ClientCapabilities,
  type ClientInfo,
  type InitializeResult,
} from '../protocol/index.ts'
import { Connection } from './connection.ts'
import { WireConnectionError } from './connection-error.ts'
import { Dispatch, type DispatchOptions } from './dispatch.ts'
import { WireProtocolError } from './protocol-error.ts'
import { WireClient, type ClientTiming, type FingerprintWarning } from './wire-client.ts'

export interface ConnectOptions extends DispatchOptions, ClientTiming {
  /** The name has lower case letters, digits and `_` only. */
  readonly clientInfo: ClientInfo
  /** They stay so for the whole connection. */
  readonly capabilities?: ClientCapabilities | undefined
  /** The fingerprint of the schema this client was made for. Another one is a warning, never an error. */
  readonly expectedFingerprint?: string | undefined
  /** How long the host has for the handshake, in milliseconds. Default 30,000. */
  readonly handshakeTimeoutMs?: number | undefined
}

/**
 * Shakes hands with a host. Handlers that must not miss anything belong in the options: the host may speak as soon as this is
 * done. Rejects where the host refuses, does not answer in time or answers against the protocol; the channel is then closed.
 */
export async function connect(channel: FrameChannel, options: ConnectOptions): Promise<WireClient> {
  const { clientInfo, capabilities, expectedFingerprint, clock = systemClock } = options
  const { handshakeTimeoutMs = 30_000 } = options
  const dispatch = new Dispatch(options)
  const connection = new Connection(channel, dispatch)
  const callOff = clock.after(handshakeTimeoutMs, () =>
    connection.close(new Error(`the host did not answer within ${handshakeTimeoutMs} ms`)),
  )
  try {
    const params = { clientInfo, ...(capabilities === undefined ? {} : { capabilities }) }
    const result = readResult(await connection.call('initialize', params))
    await connection.notify('initialized')
    const warning = compare(expectedFingerprint, result.schema.fingerprint)
    return new WireClient(connection, dispatch, result, warning, options)
  } catch (error) {
    connection.close()
    if (!WireConnectionError.isInstance(error)) throw error
    throw new WireConnectionError(`no connection to the host: ${messageOf(error.cause)}`, {
      cause: error.cause,
    })
  } finally {
    callOff()
  }
}

function readResult(result: unknown): InitializeResult {
  const read = initializeResultSchema.safeParse(result)
  if (read.success) return read.data
  throw new WireProtocolError('the result of initialize is not that of the protocol', { cause: read.error })
}

function compare(expected: string | undefined, actual: string): FingerprintWarning | undefined {
  return expected === undefined || expected === actual ? undefined : { expected, actual }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
