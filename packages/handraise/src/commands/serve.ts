import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { InboxService, MemoryStore, type InboxStore } from '@handraise/inbox'
import { InboxServerError, pageUrl, type InboxServer } from '@handraise/provider-web'
import * as providerWeb from '@handraise/provider-web'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { CommandError } from '../command-error.ts'
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
  const file = memory === true ? undefined : resolve(db ?? defaultFile())
  const stopped = untilStopped()
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  await ctx.plugin(InboxService, { store: await openStore(file), viewer: 'wait' })
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

async function openStore(file: string | undefined): Promise<InboxStore> {
  if (file === undefined) return new MemoryStore()
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  try {
    const { openSqliteStore } = await import('@handraise/inbox-sqlite')
    return await openSqliteStore({ file })
  } catch (error) {
    throw new CommandError(
      'INTERNAL',
      `${(error as Error).message}; --memory keeps requests in memory instead`,
      {
        cause: error,
      },
    )
  }
}

function defaultFile(): string {
  const data = process.env['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share')
  return join(data, 'handraise', 'inbox.db')
}

function untilStopped(): Promise<void> {
  return new Promise(stop => {
    handleSignals(() => stop())
  })
}
