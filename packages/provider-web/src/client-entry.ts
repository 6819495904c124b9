export {
  InboxClient,
  type DecisionOptions,
  type InboxClientOptions,
  type InboxEvent,
  type ListOptions,
  type SettledPublicRequest,
  type StopOptions,
} from './client.ts'
export { InboxClientError } from './client-error.ts'
export type { AnswerEntry, PublicRequest, PublicSettlement } from './schemas.ts'
