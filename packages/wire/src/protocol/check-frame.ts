import { z } from 'zod'
import { codesOf } from './errors.ts'
import { errorResponseSchema, notificationSchema, requestSchema, successResponseSchema } from './frames.ts'
import { CLIENT_NOTIFICATIONS, METHODS, NOTIFICATIONS, SERVER_REQUESTS } from './methods.ts'
import { viewPageResultSchema } from './view.ts'

type Members = Readonly<Record<string, unknown>>

/** What one side may send. */
interface Side {
  readonly requests: Readonly<Record<string, { readonly params: z.ZodType }>>
  readonly notifications: Readonly<Record<string, z.ZodType>>
  checkRequestId(id: unknown): string[]
  checkTime(frame: Members): string[]
}

/** The method of the request with this id, where it is known. */
export type MethodOfId = (id: string | number) => string | undefined

const SERVER: Side = {
  requests: SERVER_REQUESTS,
  notifications: NOTIFICATIONS,
  checkRequestId: id =>
    typeof id === 'number' && Number.isInteger(id) && id > 0 ? [] : ['id: is not an integer above zero'],
  checkTime: ({ emittedAtMs }) =>
    Number.isInteger(emittedAtMs) ? [] : ['emittedAtMs: is not there as an integer'],
}

const CLIENT: Side = {
  requests: METHODS,
  notifications: CLIENT_NOTIFICATIONS,
  checkRequestId: () => [],
  checkTime: frame => ('emittedAtMs' in frame ? ['emittedAtMs: is for the host to say'] : []),
}

/**
 * All that is wrong with a frame of a host, each as the path and what is wrong there; nothing, where it is as it should be. A
 * result is held against its shape where `methodOf` knows what was asked.
 */
export function checkServerFrame(frame: unknown, methodOf?: MethodOfId): string[] {
  return checkFrame(frame, SERVER, methodOf)
}

/** All that is wrong with a frame of a client, as `checkServerFrame` says it. */
export function checkClientFrame(frame: unknown): string[] {
  return checkFrame(frame, CLIENT)
}

function checkFrame(frame: unknown, side: Side, methodOf?: MethodOfId): string[] {
  if (!isMembers(frame)) return ['is not an object']
  if (!('method' in frame)) return checkResponse(frame, methodOf)
  return [
    ...['result', 'error']
      .filter(name => name in frame)
      .map(name => `${name}: is not for a frame with a method`),
    ...('id' in frame ? checkRequest(frame, side) : checkNotification(frame, side)),
  ]
}

function checkRequest(frame: Members, side: Side): string[] {
  const read = requestSchema.safeParse(frame)
  if (!read.success) return faultsOf(read.error)
  const { id, method, params } = read.data
  return [...side.checkRequestId(id), ...checkParams(params, method, rowOf(side.requests, method)?.params)]
}

function checkNotification(frame: Members, side: Side): string[] {
  const read = notificationSchema.safeParse(frame)
  if (!read.success) return faultsOf(read.error)
  const { method, params } = read.data
  return [...side.checkTime(frame), ...checkParams(params, method, rowOf(side.notifications, method))]
}

function checkParams(params: Members | undefined, method: string, schema: z.ZodType | undefined): string[] {
  const faults =
    params !== undefined && 'emittedAtMs' in params ? ['params.emittedAtMs: belongs beside the params'] : []
  if (schema === undefined) return [...faults, `method: ${method} is not known`]
  return [...faults, ...check(schema, params ?? {}, ['params'])]
}

function checkResponse(frame: Members, methodOf?: MethodOfId): string[] {
  if ('result' in frame && 'error' in frame) return ['has both a result and an error']
  if ('error' in frame) return checkError(frame)
  if ('result' in frame) return checkResult(frame, methodOf)
  return ['has neither a method nor a result nor an error']
}

function checkError(frame: Members): string[] {
  const read = errorResponseSchema.safeParse(frame)
  if (!read.success) return faultsOf(read.error)
  const { code, data } = read.data.error
  if (data === undefined) return ['error.data: is not there']
  const codes = codesOf(data.kind)
  if (codes === undefined) return [`error.data.kind: ${data.kind} is not known`]
  return codes.includes(code) ? [] : [`error.code: ${code} is not that of ${data.kind}`]
}

function checkResult(frame: Members, methodOf?: MethodOfId): string[] {
  const read = successResponseSchema.safeParse(frame)
  if (!read.success) return faultsOf(read.error)
  const { id, result } = read.data
  const method = methodOf?.(id)
  const schema = method === undefined ? undefined : rowOf(METHODS, method)?.result
  if (schema === undefined) return []
  const faults = check(schema, result, ['result'])
  return method === 'view/page' && faults.length === 0 ? checkPage(result) : faults
}

// The page's own shape says only what all events have; each is the notification it was, without its frame.
function checkPage(result: Members): string[] {
  return viewPageResultSchema.parse(result).events.flatMap((event, index) => {
    const at = ['result', 'events', index]
    const framing = ['jsonrpc', 'emittedAtMs'].filter(name => name in event || name in event.params)
    const schema = rowOf(NOTIFICATIONS, event.method)
    return [
      ...framing.map(name => `${pathOf(at)}: has ${name}, which is for frames`),
      ...(schema === undefined
        ? [`${pathOf(at)}.method: ${event.method} is not known`]
        : check(schema, event.params, [...at, 'params'])),
    ]
  })
}

function check(schema: z.ZodType, value: unknown, at: readonly PropertyKey[]): string[] {
  const read = schema.safeParse(value)
  return read.success ? [] : faultsOf(read.error, at)
}

function faultsOf(error: z.ZodError, at: readonly PropertyKey[] = []): string[] {
  return error.issues.map(({ path, message }) => `${pathOf([...at, ...path])}: ${message}`)
}

function pathOf(path: readonly PropertyKey[]): string {
  return z.core.toDotPath(path)
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function rowOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
