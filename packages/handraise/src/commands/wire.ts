import type { Writable } from 'node:stream'
import { stdioChannel } from '@handraise/wire'
import { Context } from 'cordis'
import { chosenFile, openHostStore, type DatabaseChoice } from '../database-file.ts'
import { endSoon } from '../end-soon.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { mountStack, mountWire } from '../mount-wire.ts'
import { untilStopped } from '../signals.ts'
import { takeStandardOutput } from '../standard-output.ts'
import { holdTrouble } from '../trouble.ts'

export interface WireOptions extends DatabaseChoice {
  /** The module of the agent. */
  readonly agent?: string | undefined
}

/** `handraise wire`: hosts sessions for the one client that has started it, over standard input and output. */
export async function wire({ db, memory, agent }: WireOptions): Promise<ExitCode> {
  const file = chosenFile({ db, memory })
  const output = takeStandardOutput()
  const stopped = untilStopped()
  const ctx = new Context()
  try {
    await Promise.race([stopped, host(ctx, { file, db, agent, output })])
  } finally {
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
}

async function host(ctx: Context, { file, db, agent, output }: Hosting): Promise<void> {
  const tellTrouble = holdTrouble(ctx, line => process.stderr.write(line))
  await mountStack(ctx, await openHostStore(file, db))
  const { service } = await mountWire(ctx, { agent, file, adopt: false })
  tellTrouble()
  await service.serve(stdioChannel(process.stdin, output))
}
