import type { Writable } from 'node:stream'
import { stdioChannel } from '@handraise/wire'
import { Context } from 'cordis'
import { chosenFile, openHostStore, type DatabaseChoice } from '../database-file.ts'
import { endSoon } from '../end-soon.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { mountLog, type LogChoice } from '../mount-log.ts'
import { mountStack, mountWire } from '../mount-wire.ts'
import { untilStopped } from '../signals.ts'
import { takeStandardOutput } from '../standard-output.ts'
import { holdTrouble } from '../trouble.ts'

export interface WireOptions extends DatabaseChoice, LogChoice {
  /** The module of the agent. */
  readonly agent?: string | undefined
}

/** `handraise wire`: hosts sessions for the one client that has started it, over standard input and output. */
export async function wire(options: WireOptions): Promise<ExitCode> {
  const { db, agent } = options
  const file = chosenFile(options)
  const output = takeStandardOutput()
  const stopped = untilStopped()
  const ctx = new Context()
  let endLog = (): Promise<void> => Promise.resolve()
  const log = async (): Promise<void> => {
    endLog = await mountLog(ctx, options)
  }
  try {
    await Promise.race([stopped, host(ctx, { file, db, agent, output, log })])
  } finally {
    await endLog()
    await ctx.fiber.dispose()
    endSoon()
  }
  return EXIT.answered
}

interface Hosting {
  readonly file: string | undefined
  readonly db: string | undefined
  readonly agent: string | undefined
  readonly output: Writable
  /** Begins the log, before anybody can ask. */
  readonly log: () => Promise<void>
}

async function host(ctx: Context, { file, db, agent, output, log }: Hosting): Promise<void> {
  const tellTrouble = holdTrouble(ctx, line => process.stderr.write(line))
  await mountStack(ctx, await openHostStore(file, db))
  await log()
  const { service } = await mountWire(ctx, { agent, file, adopt: false })
  tellTrouble()
  await service.serve(stdioChannel(process.stdin, output))
}
