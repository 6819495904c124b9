import { pageUrl, type InboxServer } from '@handraise/provider-web'
import type { AskUserQuestionRequest } from '@handraise/user-questions/types'
import { Context } from 'cordis'
import { CommandError } from '../command-error.ts'
import { untilDismissed } from '../dismissal.ts'
import { hasDisplay } from '../display.ts'
import { endOnceAnswered } from '../end-soon.ts'
import type { ExitCode } from '../exit-code.ts'
import { linger } from '../linger.ts'
import { mountLog, type LogChoice } from '../mount-log.ts'
import { mountNotices, type NoticeChoice } from '../mount-notices.ts'
import { mountInbox, mountPage } from '../mount-page.ts'
import { openPage } from '../open-page.ts'
import { apply as applyPreset } from '../preset.ts'
import { reportAnswer, reportError, writeReport } from '../report.ts'
import { handleSignals } from '../signals.ts'
import { onTrouble } from '../trouble.ts'

export interface WebChoice extends NoticeChoice, LogChoice {
  readonly json?: boolean | undefined
  /** False: the browser is not opened. */
  readonly open?: boolean | undefined
}

/** `handraise ask --web`: asks on a page that is there for this one request. Returns the exit code. */
export async function askOnPage(request: AskUserQuestionRequest, options: WebChoice): Promise<ExitCode> {
  const ctx = new Context()
  let endLog = (): Promise<void> => Promise.resolve()
  try {
    onTrouble(ctx, line => process.stderr.write(line))
    await ctx.plugin({ name: 'handraise', apply: applyPreset }, { provider: null })
    await mountInbox(ctx)
    endLog = await mountLog(ctx, options)
    const server = await mountPage(ctx).catch(cannotServe)
    await mountNotices(ctx, options, process.stderr)
    await ctx.inbox.core.follow({
      entry({ change, request: { id } }) {
        if (change === 'opened') announce(pageUrl(server, { request: id }), options)
      },
      lost() {},
    })
    const signal = untilDismissed()
    const report = await ctx.userQuestions.ask({ ...request, signal }).then(reportAnswer, reportError)
    // It has ended, and says how; a signal that comes with that changes nothing any more.
    handleSignals(() => {})
    const exitCode = writeReport(report, options.json === true)
    await linger(server)
    return exitCode
  } finally {
    await endLog()
    await ctx.fiber.dispose()
    if (options.log !== undefined) endOnceAnswered()
  }
}

function announce(url: string, { open }: WebChoice): void {
  process.stderr.write(`answer at ${url}\n`)
  if (open !== false && hasDisplay()) void openPage(url)
}

function cannotServe(error: unknown): InboxServer {
  throw new CommandError('INTERNAL', `the page cannot be served: ${(error as Error).message}`, {
    cause: error,
  })
}
