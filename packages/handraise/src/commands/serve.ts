import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { InboxService, MemoryStore, type InboxStore } from '@handraise/inbox'
import { InboxServerError, type InboxServer } from '@handraise/provider-web'
import * as providerWeb from '@handraise/provider-web'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { CommandError } from '../command-error.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { writeLine } from '../json-line.ts'
import { handleSignals } from '../signals.ts'

export interface ServeOptions {
  /** The database file. */
  readonly db?: string | undefined
  readonly port?: number | undefined
  readonly memory?: boolean | undefined
  readonly json?: boolean | undefined
}

/** `handraise serve`: keeps an inbox and serves it until it is told to stop. */
export async function serve({ db, port, memory, json }: ServeOptions): Promise<ExitCode> {
  if (memory === true && db !== undefined) throw new CommandError('BAD_USAGE', '--memory goes without --db')
  const file = memory === true ? undefined : resolve(db ?? defaultFile())
  const stopped = untilStopped()
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  await ctx.plugin(InboxService, { store: await openStore(file), viewer: 'wait' })
  try {
    await listen(ctx, file, port, server => announce(server, file, json === true))
  } catch (error) {
    await ctx.fiber.dispose()
    if (InboxServerError.isInstance(error))
      throw new CommandError('INTERNAL', error.message, { cause: error })
    throw error
  }
  // From here on; what goes wrong before is what the command ends with.
  ctx.logger.exporter({
    export: ({ type, args }) => {
      if (type === 'error' || type === 'warn') process.stderr.write(`${args.map(describe).join(' ')}\n`)
    },
  })
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

function announce({ url, token }: InboxServer, file: string | undefined, asJson: boolean): void {
  if (asJson) {
    writeLine(process.stdout, { url, token })
    return
  }
  process.stdout.write(
    [
      `inbox:  ${url}`,
      `token:  ${token}`,
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

function describe(value: unknown): string {
  return value instanceof Error ? `${value.name}: ${value.message}` : String(value)
}
