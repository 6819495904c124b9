import type { InboxService } from '@handraise/inbox'
import type { ToolService } from '@handraise/tools'
import type { UserApprovalService } from '@handraise/user-approvals'
import type { SessionAgent } from './agent.ts'
import type { CommandLedger } from './command-ledger.ts'
import type { Session } from './session.ts'
import type { SessionStore } from './session-store.ts'

/** What the parts of a host share. */
export interface WireDeps {
  readonly inbox: InboxService
  readonly approvals: UserApprovalService
  readonly tools: ToolService
  readonly agent: SessionAgent | undefined
  readonly sessions: SessionStore
  readonly ledger: CommandLedger
  /** Where the data of a session is kept, for people to read. */
  readonly pathOf: (sessionId: string) => string
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Told what went wrong in what nobody waits for. */
  readonly report: (error: unknown) => void
  /** A session has become idle or busy, or waits for a person or does not any more. */
  readonly statusChanged: (session: Session) => void
  /** A turn of a session is over, and no other has begun. */
  readonly turnEnded: (session: Session) => void
  /** What happened in a session cannot be recorded any more. */
  readonly lost: (session: Session, error: unknown) => void
}
