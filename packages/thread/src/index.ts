export { attachThread, type ThreadOptions } from './attach.ts'
export { ThreadError, type AnyThreadError, type ThreadErrorCode, type ThreadErrorDetails } from './error.ts'
export type { MessageHandler, UnansweringReason } from './hand-on.ts'
export {
  pendingPromptSchema,
  PROMPT_KINDS,
  promptQuestionSchema,
  promptResolvedSchema,
  textOf,
  threadAnswerSchema,
  threadAnswersSchema,
  threadItemSchema,
  type PendingPrompt,
  type PromptKind,
  type PromptQuestion,
  type PromptResolved,
  type ThreadAnswer,
  type ThreadAnswers,
  type ThreadDraft,
  type ThreadItem,
} from './items.ts'
export { MemoryThread, type MemoryDraft } from './memory-thread.ts'
export { FileThread, type FileThreadOptions } from './file-thread.ts'
export { apply, inject, name } from './plugin.ts'
export { readReply, type Asked, type Reply, type SeveralPolicy } from './read-reply.ts'
export { readStructuredAnswers, type StructuredAnswers } from './structured-answers.ts'
export type { ThreadPage, ThreadStore } from './thread-store.ts'
