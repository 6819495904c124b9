import {
  OUTCOME_OF_CODE,
  UserQuestionError,
  type Answer,
  type AnsweredBy,
  type AnyUserQuestionError,
  type AskOutcome,
  type AskUserQuestionAnswer,
  type UserQuestionErrorCode,
} from '@handraise/user-questions/types'
import { CommandError } from './command-error.ts'
import { EXIT, exitCodeOf, type ExitCode } from './exit-code.ts'
import { writeLine } from './json-line.ts'

/** How an ask ended, whatever that was: what `--json` prints. */
export interface Report {
  readonly outcome: AskOutcome
  readonly answers: readonly Answer[]
  readonly by?: AnsweredBy | undefined
  readonly code?: UserQuestionErrorCode | undefined
  readonly message?: string | undefined
  readonly reason?: string | undefined
  readonly text?: string | undefined
}

export function reportAnswer({ answers }: AskUserQuestionAnswer): Report {
  const made = new Set(answers.map(answer => answer.by ?? 'user'))
  const by = made.has('default') ? 'default' : made.has('policy') ? 'policy' : 'user'
  return { outcome: by === 'default' ? 'timedOut' : 'answered', answers, by }
}

export function reportError(thrown: unknown): Report {
  if (!UserQuestionError.isInstance(thrown)) {
    throw new CommandError('INTERNAL', thrown instanceof Error ? thrown.message : String(thrown), {
      cause: thrown,
    })
  }
  // Ctrl-C in a terminal that is not in raw mode comes as a signal; it means the same as the key.
  const error: AnyUserQuestionError =
    UserQuestionError.isInstance(thrown.cause) && thrown.code === 'ASK_ABORTED' ? thrown.cause : thrown
  const { code, details, message } = error
  const outcome = OUTCOME_OF_CODE[code]
  const byPerson = ['cancelled', 'declined', 'clarified', 'interrupted'].includes(outcome)
  return {
    outcome,
    answers: ('answers' in details && details.answers) || [],
    ...(byPerson ? { by: 'user' as const } : {}),
    code,
    message,
    ...('reason' in details && details.reason !== undefined ? { reason: details.reason } : {}),
    ...('text' in details ? { text: details.text } : {}),
  }
}

/** Writes the answer to standard output and, when there is none, why to standard error. Returns the exit code. */
export function writeReport(report: Report, asJson: boolean): ExitCode {
  const exitCode = exitCodeOf(report.outcome, report.code)
  const {
    code = 'ASK_TIMED_OUT',
    message = 'nobody answered in time; the defaults were taken',
    answers,
    text,
  } = report
  if (asJson) {
    writeLine(process.stdout, report)
  } else if (report.code === undefined) {
    // Who answered is told by --json; that nobody did is told here, too.
    const bare = answers.map(({ by, ...answer }) => (by === 'default' ? { ...answer, by } : answer))
    writeLine(process.stdout, { answers: bare })
  }
  if (exitCode !== EXIT.answered) {
    const given = { ...(answers.length > 0 ? { answers } : {}), ...(text === undefined ? {} : { text }) }
    writeLine(process.stderr, { code, message, ...given })
  }
  return exitCode
}
