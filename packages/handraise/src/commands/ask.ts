import {
  UserQuestionError,
  type AskUserQuestionRequest,
  type UserQuestionProvider,
} from '@handraise/user-questions'
import { Context } from 'cordis'
import { chooseProvider, type ProviderChoice } from '../choose-provider.ts'
import { CommandError } from '../command-error.ts'
import type { ExitCode } from '../exit-code.ts'
import { apply as applyPreset } from '../preset.ts'
import { reportAnswer, reportError, writeReport } from '../report.ts'
import { readRequest } from '../request-file.ts'
import { handleSignals } from '../signals.ts'
import type { InboxChoice } from '../inbox-connection.ts'

export interface AskOptions extends ProviderChoice, InboxChoice {
  readonly json?: boolean | undefined
  /** Seconds. */
  readonly timeout?: number | undefined
  readonly session?: string | undefined
  readonly key?: string | undefined
  readonly detach?: boolean | undefined
}

/** `handraise ask`: one request in, one line of JSON out. Returns the exit code. */
export async function ask(file: string, options: AskOptions): Promise<ExitCode> {
  const { session, key, timeout, inbox, detach } = options
  const given = await readRequest(file)
  const request = {
    ...given,
    timeoutMs: timeout === undefined ? given.timeoutMs : timeout * 1000,
    ...(session === undefined ? {} : { session }),
    ...(key === undefined ? {} : { key }),
  }
  if (inbox !== undefined) {
    const here = (['answers', 'policy', 'replay', 'record', 'plain'] as const).filter(
      name => options[name] !== undefined,
    )
    if (here.length > 0) {
      throw new CommandError(
        'BAD_USAGE',
        `--${here.join(', --')}: an inbox has its own surfaces; leave it out with --inbox`,
      )
    }
    return (await import('./inbox.ts')).askInbox(request, options)
  }
  if (detach === true)
    throw new CommandError('BAD_USAGE', '--detach needs --inbox: only an inbox keeps a question')
  return askHere(request, options, file === '-')
}

async function askHere(
  request: AskUserQuestionRequest,
  options: AskOptions,
  inputTaken: boolean,
): Promise<ExitCode> {
  const { provider, prompts, close } = await chooseProvider(options, inputTaken)
  const stop = new AbortController()
  // Without a prompt there is nothing to dismiss: what a signal means then is not changed.
  if (prompts) {
    handleSignals(signal =>
      stop.abort(
        signal === 'SIGINT'
          ? new UserQuestionError('ASK_CANCELLED', { reason: 'dismissed by the user' })
          : new Error(`stopped by ${signal}`),
      ),
    )
  }
  try {
    const report = await askThrough(provider, { ...request, signal: stop.signal })
    return writeReport(report, options.json === true)
  } finally {
    // It has ended, and says how; a signal that comes with that changes nothing any more.
    handleSignals(() => {})
    close()
  }
}

async function askThrough(provider: UserQuestionProvider, request: AskUserQuestionRequest) {
  const ctx = new Context()
  await ctx.plugin({ name: 'handraise', apply: applyPreset }, { provider })
  const report = await ctx.userQuestions.ask(request).then(reportAnswer, reportError)
  await ctx.fiber.dispose()
  return report
}
