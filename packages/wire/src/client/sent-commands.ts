import { canonicalJson } from '@handraise/user-questions/types'
import { WireProtocolError } from './protocol-error.ts'
import type { Members } from './server-frame.ts'

/** Of how many commands it is remembered what was sent and what came back. */
const REMEMBERED = 1_000

interface Sent {
  readonly payload: string
  ack?: string
}

/** What went out under which command id, so that one id stands for one thing and has one answer. */
export class SentCommands {
  private readonly sent = new Map<string, Sent>()

  /** Throws a TypeError where something else was sent under this id. */
  admit(commandId: string, method: string, params: Members): void {
    const payload = canonicalJson([method, params])
    const before = this.sent.get(commandId)
    if (before !== undefined && before.payload !== payload) {
      throw new TypeError(
        `command ${commandId} was sent before, saying something else; use a new command id for each decision`,
      )
    }
    // Set anew, it is the most recent.
    this.sent.delete(commandId)
    this.sent.set(commandId, before ?? { payload })
    const [oldest] = this.sent.keys()
    if (this.sent.size > REMEMBERED && oldest !== undefined) this.sent.delete(oldest)
  }

  /** Throws a WireProtocolError where it is the answer to another command, or not the one that came before. */
  acknowledge(commandId: string, ack: Members): void {
    if ('commandId' in ack && ack['commandId'] !== commandId) {
      throw new WireProtocolError(`command ${commandId} was answered with the id of another command`)
    }
    const sent = this.sent.get(commandId)
    if (sent === undefined) return
    const text = canonicalJson(ack)
    sent.ack ??= text
    if (sent.ack !== text) {
      throw new WireProtocolError(`command ${commandId} was answered otherwise than before`)
    }
  }
}
