import type { AnsweredBy } from '@handraise/user-questions/types'
import type { SettledRequest } from './request.ts'
import type { RecordWrite } from './store.ts'

/** What a person, or a rule for them, decided. `answer` is in the words of the request's kind. */
export type Decision =
  | { readonly outcome: 'answered'; readonly answer: unknown }
  | { readonly outcome: 'declined'; readonly reason?: string | undefined }
  | { readonly outcome: 'cancelled'; readonly reason?: string | undefined; readonly answer?: unknown }
  | { readonly outcome: 'clarified'; readonly text: string }
  | { readonly outcome: 'interrupted'; readonly reason?: string | undefined; readonly answer?: unknown }

/** Who decides. */
export interface Command {
  /** Chosen by whoever sends it, once for each decision; sending it again returns the first receipt. */
  readonly commandId: string
  /** Where it was decided, such as `web` or `terminal`. */
  readonly surface: string
  /** Default `user`. */
  readonly by?: AnsweredBy | undefined
  readonly records?: readonly RecordWrite[] | undefined
}

export interface Receipt {
  readonly request: SettledRequest
  /** True when this command had been received before. */
  readonly repeated: boolean
}
