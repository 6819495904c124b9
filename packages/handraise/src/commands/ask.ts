import type { AskUserQuestionRequest } from '@handraise/user-questions/types'
import { Context } from 'cordis'
import { chooseProvider, type ChosenProvider, type ProviderChoice } from '../choose-provider.ts'
import { CommandError } from '../command-error.ts'
import { endOnceAnswered } from '../end-soon.ts'
import type { ExitCode } from '../exit-code.ts'
import { mountLog, type LogChoice } from '../mount-log.ts'
import { apply as applyPreset } from '../preset.ts'
import { reportAnswer, reportError, writeReport } from '../report.ts'
import { readRequest } from '../request-file.ts'
import { handleSignals } from '../signals.ts'
import { inboxOfEnvironment, type InboxChoice } from '../inbox-connection.ts'
import type { WebChoice } from './ask-web.ts'

export interface AskOptions extends ProviderChoice, InboxChoice, LogChoice, WebChoice {
  /** On a page of its own. */
  readonly web?: boolean | undefined
  /** Seconds. */
  readonly timeout?: number | undefined
  readonly session?: string | undefined
  readonly key?: string | undefined
  readonly detach?: boolean | undefined
}

/** `handraise ask`: one request in, one line of JSON out. Returns the exit code. */
export async function ask(file: string, options: AskOptions): Promise<ExitCode> {
  const { session, key, timeout, web, inbox, detach } = options
  const given = await readRequest(file)
  const request = {
    ...given,
    timeoutMs: timeout === undefined ? given.timeoutMs : timeout * 1000,
    ...(session === undefined ? {} : { session }),
    ...(key === undefined ? {} : { key }),
  }
  if (web === true) {
    refuse(options, [...HERE, 'inbox', 'detach'], 'a page asks by itself; leave it out with --web')
    return (await import('./ask-web.ts')).askOnPage(request, options)
  }
  if (inbox !== undefined) {
    refuse(options, [...HERE, ...NOTICES, ...LOG], 'an inbox has its own surfaces; leave it out with --inbox')
    return (await import('./inbox.ts')).askInbox(request, options)
  }
  // The environment names where to ask unless something of this ask says that it is asked here.
  const here = [...HERE, ...NOTICES, ...LOG].some(name => options[name] !== undefined)
  if (!here && inboxOfEnvironment() !== undefined)
    return (await import('./inbox.ts')).askInbox(request, options)
  if (detach === true)
    throw new CommandError(
      'BAD_USAGE',
      '--detach needs --inbox, or HANDRAISE_INBOX: only an inbox keeps a question',
    )
  if (RULES.some(name => options[name] !== undefined))
    refuse(options, NOTICES, 'nobody is asked where a script, a policy or a recording answers; leave it out')
  return askHere(request, options, file === '-')
}

/** What answers without a person. */
const RULES = ['answers', 'policy', 'replay'] as const
/** What belongs to an ask in this process, and is shown in this terminal at most. */
const HERE = [...RULES, 'record', 'plain'] as const
const NOTICES = ['notify', 'notifyText'] as const
const LOG = ['log', 'logText'] as const

function refuse(options: AskOptions, names: readonly (keyof AskOptions)[], why: string): void {
  const given = names
    .filter(name => options[name] !== undefined)
    .map(name => `--${name.replace(/[A-Z]/gu, letter => `-${letter.toLowerCase()}`)}`)
  if (given.length > 0) throw new CommandError('BAD_USAGE', `${given.join(', ')}: ${why}`)
}

async function askHere(
  request: AskUserQuestionRequest,
  options: AskOptions,
  inputTaken: boolean,
): Promise<ExitCode> {
  const chosen = await chooseProvider(options, inputTaken)
  // What goes wrong beside the prompt is told when the terminal is free again.
  const troubles: string[] = []
  try {
    // Without a prompt there is nothing to dismiss: what a signal means then is not changed.
    const signal = chosen.prompts ? (await import('../dismissal.ts')).untilDismissed() : undefined
    const report = await askThrough(chosen, { ...request, signal }, options, line => troubles.push(line))
    for (const line of troubles) process.stderr.write(line)
    return writeReport(report, options.json === true)
  } finally {
    // It has ended, and says how; a signal that comes with that changes nothing any more.
    handleSignals(() => {})
    chosen.close()
    if (options.log !== undefined) endOnceAnswered()
  }
}

async function askThrough(
  { provider, terminal }: ChosenProvider,
  request: AskUserQuestionRequest,
  options: AskOptions,
  onNoticeTrouble: (line: string) => void,
) {
  const ctx = new Context()
  await ctx.plugin({ name: 'handraise', apply: applyPreset }, { provider })
  const endLog = await mountLog(ctx, options)
  if (terminal !== undefined) {
    if (options.notify !== undefined) (await import('../trouble.ts')).onTrouble(ctx, onNoticeTrouble)
    await (await import('../mount-notices.ts')).mountNotices(ctx, options, terminal)
  }
  const report = await ctx.userQuestions.ask(request).then(reportAnswer, reportError)
  await endLog()
  await ctx.fiber.dispose()
  return report
}
