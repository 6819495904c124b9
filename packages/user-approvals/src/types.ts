export { describeSubject, nameOf, titleOf } from './describe-subject.ts'
export { exactLines, exactText, isPlain, quoteWord, quoteWords } from './exact-text.ts'
export { previewOf, ruleSchema, type ApprovalRule } from './rule.ts'
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
