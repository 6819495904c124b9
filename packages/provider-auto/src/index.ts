export { apply, inject, name } from './plugin.ts'
export { AUTO_POLICIES, type AutoPolicy } from './policy.ts'
export { autoProvider, type AutoOptions, type AutoProvider, type TranscriptEntry } from './provider.ts'
export { recordingProvider, replayProvider, type ReplayProvider } from './recording.ts'
export {
  scriptSchema,
  type AnswerFunction,
  type AnswerRule,
  type RuleAnswer,
  type RuleMatch,
  type Script,
  type ScriptRule,
} from './rule.ts'
