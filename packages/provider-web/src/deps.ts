import type { Inbox } from '@handraise/inbox'

/** What every route needs. */
export interface Deps {
  readonly inbox: Inbox
  readonly maxBodyBytes: number
  readonly report: (error: unknown) => void
}
