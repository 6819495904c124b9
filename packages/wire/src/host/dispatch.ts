import { InboxError } from '@handraise/inbox'
import type { RecordWrite } from '@handraise/inbox'
import { z } from 'zod'
import {
  METHODS,
  WireError,
  type Method,
  type ParamsOf,
  type RequestId,
  type ResultOf,
} from '../protocol/index.ts'
import { isAck, type Ack, type Intake } from './command-ledger.ts'
import type { Connection, Peer } from './connection.ts'
import type { WireHost } from './host.ts'
import { approvalMethods } from './methods-approvals.ts'
import { invalidParams } from './invalid-params.ts'
import { overloaded } from './overloaded.ts'
import { rejoin, sessionMethods } from './methods-sessions.ts'
import { turnMethods } from './methods-turns.ts'
import { userInputMethods } from './methods-user-input.ts'
import { viewMethods } from './methods-views.ts'

/** One request of a client. */
export interface Call<M extends Method> {
  readonly params: ParamsOf<M>
  readonly host: WireHost
  readonly connection: Connection
  readonly peer: Peer
  /** Sends the result. Within a change of the session it goes out before what the change brings about. */
  readonly reply: (result: ResultOf<M>) => void
}

/** One command: a request that changes something, under an id. */
export interface CommandCall<M extends Method> extends Call<M> {
  readonly commandId: string
  /** The records by which the command gets its ack, to be written together with what it does. */
  readonly ack: (result: ResultOf<M>) => readonly RecordWrite[]
  /** Gives the command its ack by itself, where what it does was done before. */
  readonly acknowledge: (result: ResultOf<M>) => Promise<void>
}

export type Query<M extends Method> = (call: Call<M>) => Promise<void>
export type Command<M extends Method> = (call: CommandCall<M>) => Promise<void>

/** How each method is answered. `initialize` is the connection's own. */
export type Handlers = {
  readonly [M in Exclude<Method, 'initialize'>]: (typeof METHODS)[M]['command'] extends true
    ? Command<M>
    : Query<M>
}

const HANDLERS: Handlers = {
  ...sessionMethods,
  ...turnMethods,
  ...userInputMethods,
  ...approvalMethods,
  ...viewMethods,
}

export interface Dispatched {
  readonly id: RequestId
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly host: WireHost
  readonly connection: Connection
  readonly peer: Peer
}

const commandSchema = z.looseObject({
  // Version 7, as the protocol has clients mint them.
  commandId: z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u, {
    error: 'expected a UUID of version 7 in lower case, minted by the client',
  }),
})

/** Answers one request, whatever becomes of it. */
export async function dispatch(request: Dispatched): Promise<void> {
  const { id, method, connection } = request
  try {
    if (!isHandled(method)) await askAgent(request)
    else if (METHODS[method].command) await runCommand(method, request)
    else await runQuery(method, request)
  } catch (error) {
    connection.refuse(id, toWireError(error, request))
  }
}

function isHandled(method: string): method is keyof Handlers {
  return Object.hasOwn(HANDLERS, method)
}

async function runQuery(method: keyof Handlers, request: Dispatched): Promise<void> {
  const { id, params, connection } = request
  const parsed = parse<unknown>(METHODS[method].params, params)
  const handler = HANDLERS[method] as (call: Call<Method>) => Promise<void>
  await handler({
    ...request,
    params: parsed as ParamsOf<Method>,
    reply: result => {
      // It may be asked for again, which what a command did may not.
      if (connection.isBehind) connection.refuse(id, overloaded())
      else connection.respond(id, result)
    },
  })
}

// Commands under way in this process, by id: the same one sent twice at once is done once.
const underWay = new WeakMap<WireHost, Map<string, Promise<void>>>()

async function runCommand(method: keyof Handlers, request: Dispatched): Promise<void> {
  const { id, params, host, connection } = request
  const { commandId } = parse(commandSchema, params)
  const parsed = parse<unknown>(METHODS[method].params, params)
  const commands = underWay.get(host) ?? new Map<string, Promise<void>>()
  underWay.set(host, commands)
  for (let other = commands.get(commandId); other !== undefined; other = commands.get(commandId)) await other
  let done = (): void => {}
  commands.set(commandId, new Promise(resolve => (done = resolve)))
  try {
    const taken = await host.deps.ledger.take(commandId, method, params)
    if (isAck(taken)) {
      await replay(method, taken, request)
      return
    }
    const handler = HANDLERS[method] as (call: CommandCall<Method>) => Promise<void>
    const call = toCommandCall(taken, parsed as ParamsOf<Method>, request)
    await handler(call).catch(async (error: unknown) => {
      // What goes wrong behind the ack is no answer to the command.
      if (call.replied()) host.deps.report(error)
      else await reject(taken, error, request)
    })
  } catch (error) {
    connection.refuse(id, toWireError(error, request))
  } finally {
    commands.delete(commandId)
    done()
  }
}

async function replay(method: string, ack: Ack, { id, connection, host }: Dispatched): Promise<void> {
  if (!('result' in ack)) connection.refuse(id, WireError.fromErrorObject(ack.error))
  else if (method === 'session/start')
    // Whoever sends it again has lost the connection that was subscribed by it.
    await rejoin(host, connection, ack.result, () => connection.respond(id, ack.result))
  else connection.respond(id, ack.result)
}

function toCommandCall(
  intake: Intake,
  params: ParamsOf<Method>,
  request: Dispatched,
): CommandCall<Method> & { readonly replied: () => boolean } {
  const { ledger } = request.host.deps
  const { id, connection } = request
  let replied = false
  return {
    replied: () => replied,
    ...request,
    params,
    commandId: intake.commandId,
    ack: result => [ledger.ackWrite(intake, { result })],
    acknowledge: result => ledger.settle(intake, { result }),
    reply: result => {
      replied = true
      connection.respond(id, result)
    },
  }
}

/** Errors that say how things stand with this host now: the same command may well be taken later. */
const PASSING: ReadonlySet<string> = new Set([
  'overloaded',
  'backpressured',
  'internal',
  'interrupted',
  'sessionNotFound',
  'sessionNotLoaded',
  'sessionInUse',
  'approvalReviewerUnavailable',
])

// A rejection is an ack: it is replayed as it was.
async function reject(intake: Intake, thrown: unknown, request: Dispatched): Promise<void> {
  const error = toWireError(thrown, request)
  if (!PASSING.has(error.kind))
    await request.host.deps.ledger.settle(intake, { error: error.toErrorObject() })
  request.connection.refuse(request.id, error)
}

/** Capabilities that are known, and that this host never grants, by the methods they are for. */
const UNGRANTED: ReadonlyMap<string, string> = new Map([
  ['userShell', 'userShell'],
  ['feedback', 'feedback'],
])

async function askAgent({ id, method, params, host, connection }: Dispatched): Promise<void> {
  const [area = ''] = method.split('/')
  const capability = UNGRANTED.get(area)
  const { agent } = host.deps
  const answering = new AbortController()
  const stop = host.onClose(() => answering.abort())
  try {
    answering.signal.throwIfAborted()
    const result = await agent?.request?.(method, params, answering.signal)
    if (result !== undefined) connection.respond(id, result)
    else if (capability !== undefined)
      throw new WireError('capabilityRequired', `this host does not grant ${capability}`, { capability })
    else throw new WireError('methodNotFound', `there is no method ${JSON.stringify(method)} here`)
  } catch (error) {
    if (WireError.isInstance(error)) throw error
    if (answering.signal.aborted)
      throw new WireError('interrupted', 'this host is shutting down', {}, { cause: error })
    if (error instanceof Error && error.name === 'AbortError')
      throw new WireError('cancelled', error.message, {}, { cause: error })
    throw error
  } finally {
    stop()
  }
}

function parse<Value>(schema: z.ZodType<Value>, params: unknown): Value {
  const parsed = schema.safeParse(params)
  if (parsed.success) return parsed.data
  throw invalidParams(parsed.error)
}

function toWireError(error: unknown, { host }: Dispatched): WireError {
  if (WireError.isInstance(error)) return error
  if (InboxError.isInstance(error) && error.code === 'STORE_CLOSED')
    return new WireError('interrupted', 'this host is shutting down', {}, { cause: error })
  if (error instanceof Error && error.name === 'SessionLost')
    return new WireError('sessionInUse', error.message, {}, { cause: error })
  host.deps.report(error)
  // What went wrong is for the host's log.
  return new WireError('internal', 'something went wrong on this host', {}, { cause: error })
}
