import {
  OUTCOME_OF_CODE,
  UserQuestionError,
  type AnsweredBy,
  type AnyUserQuestionError,
  type AskUserQuestionAnswer,
  type AskUserQuestionRequest,
  type UserQuestionProvider,
} from '@handraise/user-questions'
import { Context } from 'cordis'
import { CommandError } from '../command-error.ts'
import { EXIT, exitCodeOf, type ExitCode } from '../exit-code.ts'
import { chooseProvider, type ProviderChoice } from '../choose-provider.ts'
import { apply as applyPreset } from '../preset.ts'
import { readRequest } from '../request-file.ts'

export interface AskOptions extends ProviderChoice {
  readonly json?: boolean | undefined
  /** Seconds. */
  readonly timeout?: number | undefined
}

/** What `--json` prints: how the ask ended, whatever that was. */
interface Report {
  readonly outcome: string
  readonly answers: AskUserQuestionAnswer['answers']
  readonly by?: AnsweredBy | undefined
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly reason?: string | undefined
  readonly text?: string | undefined
}

/** `handraise ask`: one request in, one line of JSON out. Returns the exit code. */
export async function ask(file: string, options: AskOptions): Promise<ExitCode> {
  const request = await readRequest(file)
  const { provider, prompts, close } = await chooseProvider(options, file === '-')
  const stop = new AbortController()
  const onSignal = (signal: NodeJS.Signals): void => {
    // Without a prompt there is nothing to dismiss.
    if (signal === 'SIGINT' && !prompts) process.exit(EXIT.signalled)
    const dismissed = new UserQuestionError('ASK_CANCELLED', { reason: 'dismissed by the user' })
    stop.abort(signal === 'SIGINT' ? dismissed : new Error(`stopped by ${signal}`))
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, onSignal)
  try {
    const timeoutMs = options.timeout === undefined ? request.timeoutMs : options.timeout * 1000
    return await askAndReport({ ...request, timeoutMs, signal: stop.signal }, provider, options.json === true)
  } finally {
    for (const signal of signals) process.off(signal, onSignal)
    close()
  }
}

async function askAndReport(
  request: AskUserQuestionRequest,
  provider: UserQuestionProvider,
  asJson: boolean,
): Promise<ExitCode> {
  const ctx = new Context()
  await ctx.plugin({ name: 'handraise', apply: applyPreset }, { provider })
  const report = await ctx.userQuestions.ask(request).then(reportAnswer, reportError)
  await ctx.fiber.dispose()
  const exitCode = exitCodeOf(report.outcome as never, report.code as never)
  if (asJson) writeLine(process.stdout, report)
  else if (report.code === undefined)
    writeLine(process.stdout, {
      answers: report.answers.map(({ by, ...answer }) => ({
        ...answer,
        ...(by === 'default' ? { by } : {}),
      })),
    })
  if (exitCode !== EXIT.answered) {
    const {
      code = 'ASK_TIMED_OUT',
      message = 'nobody answered in time; the defaults were taken',
      answers,
      text,
    } = report
    writeLine(process.stderr, {
      code,
      message,
      ...(answers.length > 0 ? { answers } : {}),
      ...(text === undefined ? {} : { text }),
    })
  }
  return exitCode
}

function reportAnswer({ answers }: AskUserQuestionAnswer): Report {
  const made = new Set(answers.map(answer => answer.by ?? 'user'))
  const by = made.has('default') ? 'default' : made.has('policy') ? 'policy' : 'user'
  return { outcome: by === 'default' ? 'timedOut' : 'answered', answers, by }
}

function reportError(thrown: unknown): Report {
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

export function writeLine(stream: NodeJS.WritableStream, value: unknown): void {
  stream.write(`${JSON.stringify(value)}\n`)
}
