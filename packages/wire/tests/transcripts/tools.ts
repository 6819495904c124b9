import { QUESTIONS, toAnswer, toQuestionsPayload } from '@handraise/inbox'
import { defineTool } from '@handraise/tools'
import type { Question } from '@handraise/user-questions/types'
import { z } from 'zod'
import type { Hosted } from './scenario.ts'

/** A tool of the runtime that asks these questions, whatever the model sends, and waits for as long as it says. */
export function offerUserInput(
  { ctx }: Hosted,
  questions: readonly Question[],
  autoResolutionMs: number,
): void {
  ctx.tools.register(
    defineTool({
      name: 'request_user_input',
      description: 'Asks the user.',
      parameters: z.looseObject({}),
      async execute(_, { callId, session, signal }) {
        const { inbox } = ctx
        // Not by the seam, which reads the time from a clock of its own.
        const deadlineAt = inbox.core.clock.now() + autoResolutionMs
        const payload = toQuestionsPayload(questions)
        const opening = { kind: QUESTIONS, payload, session, key: callId, deadlineAt }
        return toAnswer(await inbox.request(opening, signal))
      },
    }),
  )
}

/** A tool that runs nothing, but needs permission for each stage of a command line. */
export function offerCommand({ ctx }: Hosted): void {
  ctx.tools.register(
    defineTool({
      name: 'run_command',
      description: 'Runs a command line.',
      parameters: z.object({ command: z.string() }),
      permission: ({ command }) => ({ subject: { kind: 'shell' as const, command } }),
      execute: ({ command }) => `ran ${command}\n`,
      render: text => text,
    }),
  )
}
