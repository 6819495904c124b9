import type { Context } from 'cordis'
import { CommandError } from './command-error.ts'

export interface LogChoice {
  /** A file that a line is added to for all that is asked and settled, or `-` for standard error. */
  readonly log?: string | undefined
  /** The lines hold the texts, too. */
  readonly logText?: boolean | undefined
}

/** Logs what is asked from now on, as was chosen. Returns what writes the last lines: call it before the inbox is closed. */
export async function mountLog(ctx: Context, { log, logText }: LogChoice): Promise<() => Promise<void>> {
  if (logText === true && log === undefined)
    throw new CommandError('BAD_USAGE', '--log-text needs --log: it says what is written there')
  if (log === undefined) return () => Promise.resolve()
  const { askLog, AskLogError } = await import('@handraise/telemetry')
  try {
    const to = log === '-' ? process.stderr : log
    const fiber = await ctx.plugin(askLog, { to, text: logText === true })
    return () => fiber.dispose()
  } catch (cause) {
    if (AskLogError.isInstance(cause)) throw new CommandError('BAD_INPUT', cause.message, { cause })
    throw cause
  }
}
