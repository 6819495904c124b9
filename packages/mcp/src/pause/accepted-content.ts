import { describeIssues, issuesOfZod, type Issue } from '@handraise/user-questions/types'
import type { z } from 'zod'

/** A request's answer as a handler finds it. The content of an accepted form was held to what was asked. */
export type InputResponse =
  | { readonly action: 'accept'; readonly content?: unknown }
  | { readonly action: 'decline' | 'cancel' }
  /** What the client itself answered to `sampling/createMessage` or `roots/list`, as MCP has it. */
  | { readonly result: unknown }

/** The answers so far, by the id of their request. */
export type InputResponses = { readonly [id: string]: InputResponse }

const faults = new WeakMap<object, Map<string, string>>()

/**
 * What the person answered to the request of this id: the content of its form, the value of its one field, or `true` for a
 * request without a form, once they agreed. Nothing when they declined, dismissed it, or were not asked yet; nothing but an
 * answer they gave ever comes out.
 *
 * Without a schema the type is the caller's word; what holds is the schema that was asked with. With one: what it makes of
 * the answer. When it refuses and the handler then asks for this id again, the person is told
 * why; the third refusal ends the call.
 */
export function acceptedContent<T = unknown>(
  responses: InputResponses | undefined,
  id: string,
  schema?: z.ZodType<T>,
): T | undefined {
  const response = responseOf(responses, id)
  if (responses === undefined || response === undefined) return undefined
  if (!('action' in response) || response.action !== 'accept') return undefined
  if (schema === undefined) return response.content as T | undefined
  const parsed = schema.safeParse(response.content)
  if (parsed.success) return parsed.data
  noteFault(responses, id, issuesOfZod(parsed.error))
  return undefined
}

/**
 * How the person answered the request of this id: `accept`; `decline`, a no; `cancel`, dismissed without deciding; nothing
 * when they were not asked yet. A client that shows no dialog may send `decline` by itself.
 */
export function answeredBy(
  responses: InputResponses | undefined,
  id: string,
): 'accept' | 'decline' | 'cancel' | undefined {
  const response = responseOf(responses, id)
  return response !== undefined && 'action' in response ? response.action : undefined
}

function responseOf(responses: InputResponses | undefined, id: string): InputResponse | undefined {
  if (typeof responses !== 'object' || responses === null || !Object.hasOwn(responses, id)) return undefined
  const response: unknown = responses[id]
  return typeof response === 'object' && response !== null ? (response as InputResponse) : undefined
}

function noteFault(responses: InputResponses, id: string, issues: readonly Issue[]): void {
  const noted = faults.get(responses) ?? new Map<string, string>()
  faults.set(responses, noted.set(id, describeIssues(issues)))
}

/** What a handler's own schemas said of the answers it read, by id. */
export function faultsNoted(responses: InputResponses): ReadonlyMap<string, string> {
  return faults.get(responses) ?? new Map<string, string>()
}
