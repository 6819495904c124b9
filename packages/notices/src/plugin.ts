import type { Context } from 'cordis'
import type {} from '@handraise/inbox'
import type {} from '@handraise/user-questions'
import { bellOn, type BellStream } from './bell.ts'
import { claim, forgetSettled } from './claims.ts'
import { CommandRunner, type NoticeCommand, type RunnerOptions } from './command-runner.ts'
import { noticeOf } from './notice.ts'
import { followOpenings } from './openings.ts'

export interface NoticeOptions extends RunnerOptions {
  /** Where a bell rings. Default: none. */
  readonly bell?: BellStream | undefined
  /** What is run for each request. Default: nothing. */
  readonly command?: NoticeCommand | undefined
  /** Tells the questions and their options, too. Default false: counts and headers alone. */
  readonly text?: boolean | undefined
}

export const name = 'notices'

/**
 * Tells once of each request that opens from now on, through the inbox where there is one, else through the seam. What
 * goes wrong with that is logged, and changes nothing about what is asked.
 */
export async function apply(
  ctx: Context,
  { bell, command, text = false, ...limits }: NoticeOptions = {},
): Promise<void> {
  const report = (error: unknown): void => ctx.logger.error(error)
  const ring = bell === undefined ? () => {} : bellOn(bell)
  const runner = command === undefined ? undefined : new CommandRunner(command, limits, report)
  ctx.effect(() => () => runner?.close(), 'notices')

  ctx.on(
    'user-questions/asked',
    ({ id, questions, agent, session, askedAt: openedAt, deadlineAt: deadline }) => {
      if (ctx.get('inbox') !== undefined) return
      ring()
      const request = { id, kind: 'questions', questions, agent: agent?.id, session, openedAt, deadline }
      runner?.run(noticeOf(request, { text }))
    },
  )

  const following = ctx.inject(['inbox'], async function* ({ inbox: { core } }) {
    yield await followOpenings(
      core,
      notice => {
        ring()
        if (command === undefined) return
        claim(core, notice.id, command)
          .then(isFirst => void (isFirst && runner?.run(notice)))
          .catch(report)
      },
      { text },
    )
    await forgetSettled(core)
  })
  // Without an inbox it would be waited for in vain.
  if (ctx.get('inbox') !== undefined) await following
}
