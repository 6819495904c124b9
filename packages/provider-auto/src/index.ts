export { apply, inject, name } from './plugin.ts'
export { AUTO_POLICIES, type AutoPolicy } from './policy.ts'
export { autoProvider, type AutoOptions, type AutoProvider, type TranscriptEntry } from './provider.ts'
export { recordingProvider, replayProvider, type RecordingOptions, type ReplayProvider } from './recording.ts'
export {
  readScript,
  type AnswerFunction,
  type AnswerRule,
  type RuleAnswer,
  type RuleMatch,
  type Script,
  type ScriptRule,
} from './rule.ts'
