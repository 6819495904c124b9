export { askLog, type AskLogOptions } from './ask-log.ts'
export { AskLogError, type AnyAskLogError, type AskLogErrorCode, type AskLogErrorDetails } from './error.ts'
export type {
  LoggedAnswer,
  LoggedQuestion,
  LogLine,
  MarkLine,
  OpenedLine,
  RuledLine,
  SettledLine,
} from './log-line.ts'
