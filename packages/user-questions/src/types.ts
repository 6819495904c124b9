export { checkAnswer, checkValue, keepValidAnswers, type AnswerCheck } from './answer-rules.ts'
export { countFault, isBlank, isSkip } from './answer-value.ts'
export { canonicalJson } from './canonical-json.ts'
export { systemClock, type Clock } from './clock.ts'
export {
  PROVIDER_CODES,
  UserQuestionError,
  type AnyUserQuestionError,
  type UnavailableReason,
  type UserQuestionErrorCode,
  type UserQuestionErrorDetails,
} from './error.ts'
export { describeIssues, issuesOfZod, pathOf, type Issue } from './issue.ts'
export { foldLabel, isOtherLabel, splitOwnAnswer, splitRecommended } from './label.ts'
export {
  answerSchema,
  askUserQuestionAnswerSchema,
  questionSchema,
  type Answer,
  type AnsweredBy,
  type AnswerValue,
  type AskUserQuestionAnswer,
  type Question,
  type QuestionIntent,
  type QuestionOption,
  type QuestionPreview,
} from './question.ts'
export { checkQuestions, findIntentFault, type IntentFault } from './question-rules.ts'
export type {
  AgentLike,
  AskUserQuestionRequest,
  PendingAsk,
  ProviderRequest,
  SettledAsk,
  UserQuestionProvider,
} from './request.ts'
export { OUTCOME_OF_CODE, type AskOutcome, type Outcome } from './settlement.ts'
export { readReply, type LineReply } from './line-reply.ts'
export { readTextReply, type TextReply } from './text-mapping.ts'
export { visibleLine, visibleText } from './visible-text.ts'
