export { APPROVAL_QUESTION, approvalKind } from './approval-kind.ts'
export {
  allows,
  APPROVAL_DECISIONS,
  APPROVAL_SCOPES,
  DEFAULT_CHOICES,
  type ApprovalChoice,
  type ApprovalChoiceOffer,
  type ApprovalDecision,
  type ApprovalScope,
} from './choice.ts'
export { describeSubject, nameOf, titleOf } from './describe-subject.ts'
export { exactLines, exactText, isPlain, quoteWord, quoteWords } from './exact-text.ts'
export { digestOfInput } from './input-digest.ts'
export { requirementsOf, type Requirement } from './requirements.ts'
export {
  resolveSubject,
  type ResolvedFileAccess,
  type ResolvedNetwork,
  type ResolvedShell,
  type ResolvedSubject,
  type ResolvedTool,
  type ResolveOptions,
} from './resolve-subject.ts'
export {
  matchRule,
  previewOf,
  ruleFor,
  ruleSchema,
  type ApprovalRule,
  type FileRule,
  type NetworkRule,
  type RuleBreadth,
  type RuleVerdict,
  type ShellRule,
  type ToolRule,
} from './rule.ts'
export { readShell, stageOfWords, type ShellSeparator, type ShellStage } from './shell-words.ts'
export {
  FILE_ACCESSES,
  SUBJECT_BOUNDS,
  subjectSchema,
  type ApprovalSubject,
  type FileAccess,
  type FileAccessSubject,
  type NetworkSubject,
  type ShellSubject,
  type ToolSubject,
} from './subject.ts'
export {
  UserApprovalError,
  type AnyUserApprovalError,
  type UserApprovalErrorCode,
  type UserApprovalErrorDetails,
} from './error.ts'
export { APPROVAL_MODES, decideByPolicy, type ApprovalMode, type PolicyFacts } from './mode.ts'
export {
  describeOutcome,
  isAllowed,
  type ApprovalAmendment,
  type ApprovalOutcome,
  type DecidedApproval,
  type RequirementDecision,
  type UndecidedApproval,
} from './outcome.ts'
export {
  APPROVAL,
  checkApprovalAnswer,
  readPayload,
  type ApprovalAnswer,
  type ApprovalPayload,
} from './payload.ts'
export type { ApprovalRequest } from './request.ts'
export { RuleBook, type RememberedRule } from './rule-book.ts'
export type { CommitMode } from './session-modes.ts'
export { UserApprovalService, UserApprovalService as default, type UserApprovalConfig } from './service.ts'
export { approvalGuard, guardTools, type ApprovalSeam, type Permission } from './tool-guard.ts'
