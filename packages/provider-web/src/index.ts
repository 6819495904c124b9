export { createInboxApp, type InboxApp, type InboxAppOptions, type RouteHandler } from './app.ts'
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
export type { GuardOptions } from './guard.ts'
export { STATUS_OF_CODE, type HttpErrorCode } from './http-error.ts'
export { openApiDocument } from './openapi.ts'
export { pageUrl, type PageAddress } from './page-url.ts'
export { apply, inject, name, webSurface, type WebOptions } from './plugin.ts'
export type { AnswerEntry, PublicRequest, PublicSettlement, RequestPage } from './schemas.ts'
export { startInboxServer, type InboxServer, type InboxServerOptions } from './server.ts'
export {
  InboxServerError,
  type AnyInboxServerError,
  type InboxServerErrorCode,
  type InboxServerErrorDetails,
} from './server-error.ts'
export { readState, type ServerState } from './state-file.ts'
export type { UpgradeHandler } from './upgrades.ts'
