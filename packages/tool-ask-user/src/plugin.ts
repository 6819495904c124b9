import type { Context } from 'cordis'
import type {} from '@handraise/tools'
import type {} from '@handraise/user-questions'
import { askUserTool, type RefusedChild } from './tool.ts'

declare module 'cordis' {
  interface Events {
    /** A child was refused, as it has nobody to answer it. A host may take the tool away from it. */
    'tool-ask-user/refused'(refused: RefusedChild): void
  }
}

export const name = 'tool-ask-user'

export const inject = ['tools', 'userQuestions']

/** Registers `ask_user_question` with `ctx.tools`; it asks through `ctx.userQuestions`. */
export function apply(ctx: Context): void {
  const asker = { ask: ctx.userQuestions.ask.bind(ctx.userQuestions) }
  ctx.tools.register(
    askUserTool(asker, refused => {
      ctx.parallel('tool-ask-user/refused', refused).catch((error: unknown) => ctx.logger.error(error))
    }),
  )
}
