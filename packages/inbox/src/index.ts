export { InboxError, type AnyInboxError, type InboxErrorCode, type InboxErrorDetails } from './error.ts'
export { decodeJson, encodeInstant, encodeJson, readSettlement } from './kept-values.ts'
export { MemoryMedium, MemoryStore } from './memory-store.ts'
export {
  isSettled,
  type InboxRequest,
  type InboxSettlement,
  type JsonValue,
  type SettledRequest,
} from './request.ts'
export type {
  InboxStore,
  ListPage,
  ListQuery,
  LogEntry,
  LogPage,
  OpenCommand,
  OpenResult,
  RecordWrite,
  SettleCommand,
  SettleResult,
  StoredRecord,
} from './store.ts'
export { toAnswer, type ViewerPolicy } from './fan-out.ts'
export type { Follower } from './feed.ts'
export type { Command, Decision, Receipt } from './decision.ts'
export { Inbox, type InboxOptions, type OpenOptions } from './inbox.ts'
export type { KindCheck, RequestKind } from './kind.ts'
export { answersOf, QUESTIONS, questionsKind, toQuestionsPayload } from './questions-kind.ts'
export { InboxService, InboxService as default, type InboxConfig } from './service.ts'
export { StoreError, type StoreErrorCode, type StoreErrorOptions } from './store-error.ts'
export { showOn, type InboxSurface } from './surface.ts'
export { isRunning } from './running.ts'
