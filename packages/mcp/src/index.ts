export { ANSWER_IN, type AnswerIn, type AskToolOptions } from './ask-tool-options.ts'
export { mcpEndpoint, type McpEndpoint, type McpEndpointOptions } from './endpoint.ts'
export { endpointGuard, type EndpointGuardOptions } from './endpoint-guard.ts'
export { serveMcpOverStdio, type StdioConnection, type StdioOptions } from './endpoint-stdio.ts'
export {
  acceptedContent,
  answeredBy,
  type InputResponse,
  type InputResponses,
} from './pause/accepted-content.ts'
export { PAUSE_ENDED } from './pause/ending.ts'
export type { FieldSchema, FormSchema } from './pause/form-schema.ts'
export type {
  PausablePrompt,
  PausableResource,
  PausableTemplate,
  PausableTool,
  PauseContext,
  PromptConfig,
  ResourceConfig,
  ToolConfig,
} from './pause/handlers.ts'
export {
  inputRequired,
  type ClientRequest,
  type FormRequest,
  type InputRequest,
  type InputRequired,
  type InputRequiredSpec,
  type UrlRequest,
} from './pause/input-required.ts'
export type { EndedPause, PauseEnding } from './pause/pause-ending.ts'
export {
  PauseError,
  type AnyPauseError,
  type PauseErrorCode,
  type PauseErrorDetails,
} from './pause/pause-error.ts'
export { openPauses, Pauses, type OpenPausesOptions, type PausesOptions } from './pause/pauses.ts'
export type { PrincipalOption } from './pause/principal.ts'
export {
  mcpElicitationProvider,
  type McpElicitationOptions,
  type McpElicitationProvider,
} from './provider.ts'
export { McpService, McpService as default, type McpConfig } from './service.ts'
