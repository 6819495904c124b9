import type { Inbox } from '@handraise/inbox'
import type { Askers } from './askers.ts'

/** What every route needs. */
export interface Deps {
  readonly inbox: Inbox
  readonly askers: Askers
  readonly maxBodyBytes: number
  readonly report: (error: unknown) => void
}
