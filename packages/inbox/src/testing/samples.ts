import type { InboxRequest, InboxSettlement } from '../request.ts'
import type { OpenCommand, SettleCommand } from '../store.ts'

/** Where the time of the samples starts, in milliseconds since the Unix epoch. */
export const START = 1_700_000_000_000

let made = 0

// Every number once, in no order, so that nothing gets by on the order of ids.
function nextId(): string {
  made += 1
  return (Math.imul(made, 0x9e3779b1) >>> 0).toString(36)
}

type Parts = Partial<Omit<InboxRequest, 'settlement'>> & Partial<Omit<OpenCommand, 'request'>>

/** A command that opens a request of its own, unless told otherwise. */
export function opening({ digest, owner, records, ...parts }: Parts = {}): OpenCommand {
  const id = nextId()
  return {
    request: {
      id,
      kind: 'sample',
      payload: { question: `What about ${id}?` },
      session: '',
      openedAt: START + made,
      ...parts,
    },
    digest: digest ?? `digest of ${id}`,
    owner,
    records,
  }
}

type SettleParts = Partial<InboxSettlement> & Partial<Omit<SettleCommand, 'id' | 'settlement'>>

/** A command that settles a request by a command of its own, unless told otherwise. */
export function settling(
  id: string,
  { digest, ifDueAt, records, ...parts }: SettleParts = {},
): SettleCommand {
  const commandId = nextId()
  return {
    id,
    settlement: { outcome: 'answered', answer: { yes: true }, commandId, settledAt: START + made, ...parts },
    digest: digest ?? `digest of ${commandId}`,
    ifDueAt,
    records,
  }
}
