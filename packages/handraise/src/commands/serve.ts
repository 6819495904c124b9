import { InboxService, MemoryStore } from '@handraise/inbox'
import { InboxServerError, pageUrl, type InboxServer } from '@handraise/provider-web'
import * as providerWeb from '@handraise/provider-web'
import { UserApprovalService } from '@handraise/user-approvals'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { CommandError } from '../command-error.ts'
import { databaseFile, openDatabase } from '../database-file.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { writeLine } from '../json-line.ts'
import { mountNotices, type NoticeChoice } from '../mount-notices.ts'
import { handleSignals } from '../signals.ts'
import { onTrouble } from '../trouble.ts'

export interface ServeOptions extends NoticeChoice {
  /** The database file. */
  readonly db?: string | undefined
  readonly port?: number | undefined
  readonly memory?: boolean | undefined
  readonly json?: boolean | undefined
  /** Opens the page in a browser. */
  readonly open?: boolean | undefined
}

/** `handraise serve`: keeps an inbox and serves it until it is told to stop. */
export async function serve(options: ServeOptions): Promise<ExitCode> {
  const { db, port, memory, json, open } = options
  if (memory === true && db !== undefined) throw new CommandError('BAD_USAGE', '--memory goes without --db')
  const file = memory === true ? undefined : databaseFile(db)
  const stopped = untilStopped()
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const store = file === undefined ? new MemoryStore() : await openDatabase(file)
  await ctx.plugin(InboxService, { store, viewer: 'wait' })
  // Nothing here asks for permission; agents on the same inbox do, and are answered here.
  await ctx.plugin(UserApprovalService)
  let page = ''
  try {
    // Before anybody can ask.
    await mountNotices(ctx, options, process.stderr)
    await listen(ctx, file, port, server => {
      page = pageUrl(server)
      announce(server, page, file, json === true)
    })
  } catch (error) {
    await ctx.fiber.dispose()
    if (InboxServerError.isInstance(error))
      throw new CommandError('INTERNAL', error.message, { cause: error })
    throw error
  }
  // From here on; what goes wrong before is what the command ends with.
  onTrouble(ctx, line => process.stderr.write(line))
  if (open === true) void (await import('../open-page.ts')).openPage(page)
  await stopped
  await ctx.fiber.dispose()
  return EXIT.answered
}

async function listen(
  ctx: Context,
  file: string | undefined,
  port: number | undefined,
  onListening: (server: InboxServer) => void,
): Promise<void> {
  const stateFile = file === undefined ? {} : { stateFile: `${file}.server.json` }
  await ctx.plugin(providerWeb, { ...stateFile, ...(port === undefined ? {} : { port }), onListening })
}

function announce(
  { url, token }: InboxServer,
  page: string,
  file: string | undefined,
  asJson: boolean,
): void {
  if (asJson) {
    writeLine(process.stdout, { url, token, page })
    return
  }
  process.stdout.write(
    [
      `inbox:  ${url}`,
      `token:  ${token}`,
      `page:   ${page}`,
      `kept:   ${file ?? 'in memory, until this process ends'}`,
      'Ctrl-C stops it; what has a key stays.',
      '',
    ].join('\n'),
  )
}

function untilStopped(): Promise<void> {
  return new Promise(stop => {
    handleSignals(() => stop())
  })
}
