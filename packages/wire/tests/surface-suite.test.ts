import {
  surfaceSuite,
  type ShownEnding,
  type SurfaceHarness,
  type SurfaceResult,
} from '@handraise/inbox/testing'
import { ToolService } from '@handraise/tools'
import { UserApprovalService } from '@handraise/user-approvals'
import type { Answer, Outcome } from '@handraise/user-questions'
import type { Context } from 'cordis'
import { describe, test } from 'vitest'
import { connect, pendingView, type PendingView, type WireClient } from '../src/client-entry.ts'
import { WireService } from '../src/index.ts'
import { ndjsonChannel } from '../src/ndjson.ts'
import { WireError } from '../src/protocol/index.ts'
import { pipe } from './pipe.ts'

const SESSION = 'session-1'

interface Viewed {
  readonly client: WireClient
  readonly view: PendingView
}

/** A client that looks at the one session, resumed or started. */
async function look(ctx: Context): Promise<Viewed> {
  const [mine, theirs] = pipe()
  void ctx.wire.serve(ndjsonChannel(theirs))
  const client = await connect(ndjsonChannel(mine), { clientInfo: { name: 'surface', version: '1' } })
  const view = pendingView(client, SESSION)
  try {
    await client.command('session/resume', { sessionId: SESSION })
    await view.load()
  } catch (error) {
    if (!WireError.isInstance(error) || error.kind !== 'sessionNotFound') throw error
    await client.command('session/start', { sessionId: SESSION })
  }
  return { client, view }
}

const wire: SurfaceHarness = {
  session: SESSION,
  lacks: {
    decline: 'the protocol has one word for declining and dismissing, which is to cancel',
    winner: 'the protocol tells the command that settled a question, and not the place',
  },
  async attach(ctx) {
    const fibers = [
      await ctx.plugin(ToolService),
      await ctx.plugin(UserApprovalService),
      await ctx.plugin(WireService, {}),
    ]
    let { client, view } = await look(ctx)
    return {
      shown: () =>
        view.userInputs.map(({ userInputId, questions }) => ({
          id: userInputId,
          question: questions[0]?.question ?? '',
        })),
      ended(id): ShownEnding | undefined {
        const settlement = view.settlementOf(id)
        return settlement?.kind === 'userInput'
          ? { outcome: settlement.params.outcome as Outcome }
          : undefined
      },
      async answer(id, answers): Promise<SurfaceResult> {
        try {
          await client.command('userInput/answer', {
            sessionId: SESSION,
            userInputId: id,
            answers: answers.map(answer => toWire(answer, view, id)),
          })
          return { result: 'settled' }
        } catch (error) {
          if (WireError.isInstance(error) && error.kind === 'userInputAlreadySettled')
            return { result: 'late' }
          throw error
        }
      },
      async engage(id) {
        await client.notify('userInput/engaged', { sessionId: SESSION, userInputId: id })
      },
      async disconnect() {
        client.close()
        return async () => void ({ client, view } = await look(ctx))
      },
      async detach() {
        view.close()
        client.close()
        for (const fiber of fibers.toReversed()) await fiber.dispose()
      },
    }
  },
}

function toWire({ id, selected, custom }: Answer, view: PendingView, userInputId: string) {
  const asked = view.userInputs.find(request => request.userInputId === userInputId)
  const mode = asked?.questions.find(question => question.id === id)?.selection.mode
  return {
    questionId: id,
    ...(custom === undefined ? {} : { freeText: custom }),
    ...(selected.length === 0
      ? {}
      : mode === 'multiple'
        ? { selectedLabels: [...selected] }
        : { selectedLabel: selected[0] }),
  }
}

describe('a client of the wire', () => {
  for (const { name, run } of surfaceSuite(wire)) test(name, run)
})
