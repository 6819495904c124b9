import { InboxClientError, type InboxClient, type PublicRequest } from '@handraise/provider-web/client'
import type { PublicSettlement } from '@handraise/provider-web/client'
import type { Sending } from './draft.ts'
import { isRefused } from './follow-inbox.ts'

/** What became of a decision that was sent. */
export type Sent =
  | { readonly result: 'settled'; readonly request: PublicRequest }
  /** Somebody had settled it before; what was sent changed nothing. */
  | { readonly result: 'late'; readonly settlement: PublicSettlement }
  /** It breaks rules of the questions, or cannot be taken as it is. */
  | { readonly result: 'refused'; readonly issues: ReadonlyArray<{ path: string; message: string }> }
  | { readonly result: 'gone' }
  /** It is not known whether it arrived: the same is to be sent again. */
  | { readonly result: 'unsent' }
  | { readonly result: 'unauthorized' }

/** Sends a decision once. Sending the same again does it no second time. */
export async function send(client: InboxClient, id: string, sending: Sending): Promise<Sent> {
  const { commandId, how, answers = [], text = '' } = sending
  try {
    const { request } = await {
      answer: () => client.answer(id, answers, { commandId }),
      decline: () => client.decline(id, { commandId }),
      clarify: () => client.clarify(id, text, { commandId }),
      cancel: () => client.cancel(id, { commandId, answers }),
      interrupt: () => client.interrupt(id, { commandId, answers }),
    }[how]()
    return { result: 'settled', request }
  } catch (error) {
    if (!InboxClientError.isInstance(error)) throw error
    const { settlement, status, code, issues, message } = error
    if (settlement !== undefined) return { result: 'late', settlement }
    if (isRefused(error)) return { result: 'unauthorized' }
    if (code === 'UNKNOWN_REQUEST') return { result: 'gone' }
    if (status === 0 || status >= 500) return { result: 'unsent' }
    return { result: 'refused', issues: issues.length > 0 ? issues : [{ path: '', message }] }
  }
}
