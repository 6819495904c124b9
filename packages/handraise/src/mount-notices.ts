import type { BellStream } from '@handraise/notices'
import type { Context } from 'cordis'
import { CommandError } from './command-error.ts'

export interface NoticeChoice {
  /** A line for the shell, run for each question with a notice of it on its standard input. */
  readonly notify?: string | undefined
  /** The notice holds the texts, too. */
  readonly notifyText?: boolean | undefined
  /** False: no bell. */
  readonly bell?: boolean | undefined
}

/** Tells of what is asked from now on, as was chosen; the bell rings on `terminal` when it is one. */
export async function mountNotices(
  ctx: Context,
  { notify, notifyText, bell }: NoticeChoice,
  terminal: BellStream,
): Promise<void> {
  if (notifyText === true && notify === undefined)
    throw new CommandError('BAD_USAGE', '--notify-text needs --notify: it says what that command is told')
  const rings = bell !== false && terminal.isTTY === true
  if (!rings && notify === undefined) return
  await ctx.plugin(await import('@handraise/notices'), {
    ...(rings ? { bell: terminal } : {}),
    ...(notify === undefined ? {} : { command: { command: notify } }),
    text: notifyText === true,
  })
}
