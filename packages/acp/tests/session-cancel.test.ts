import { agent, methods, type AgentApp } from '@agentclientprotocol/sdk'
import { UserQuestionError, UserQuestionService, type Question } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import { acpProvider, type AcpProvider } from '../src/index.ts'
import { held, STORE } from './asking.ts'
import { connected, initialize } from './editor.ts'

/** An agent that asks all of `questions` at once in its turn, and reports how each ended. */
function asker(questions: readonly Question[], endings: unknown[]): AgentApp {
  let capabilities: object | undefined
  const providers = new Map<string, AcpProvider>()
  return agent({ name: 'agent' })
    .onRequest(methods.agent.initialize, ({ params }) => {
      capabilities = params.clientCapabilities
      return { protocolVersion: params.protocolVersion, agentCapabilities: {} }
    })
    .onRequest(methods.agent.session.new, () => ({ sessionId: 'session-1' }))
    .onRequest(methods.agent.session.prompt, async ({ params: { sessionId }, client, signal }) => {
      const ctx = new Context()
      await ctx.plugin(UserQuestionService)
      const provider = acpProvider(client, { sessionId, capabilities, autoAnswerMs: 0 })
      providers.set(sessionId, provider)
      ctx.userQuestions.registerProvider(provider)
      const asks = questions.map(question =>
        ctx.userQuestions.ask({ questions: [question], signal }).catch((error: unknown) => error),
      )
      endings.push(...(await Promise.all(asks)))
      const cancelled = endings.some(ending => UserQuestionError.isInstance(ending))
      return { stopReason: cancelled ? 'cancelled' : 'end_turn' }
    })
    .onNotification(methods.agent.session.cancel, ({ params }) =>
      providers.get(params.sessionId)?.cancelSession(params.sessionId),
    )
}

async function prompt({ theirs }: ReturnType<typeof connected>, cancellationSignal?: AbortSignal) {
  await theirs.agent.request(methods.agent.initialize, initialize)
  const { sessionId } = await theirs.agent.request(methods.agent.session.new, {
    cwd: '/srv/project',
    mcpServers: [],
  })
  const text = [{ type: 'text' as const, text: 'Go.' }]
  const how = cancellationSignal === undefined ? {} : { cancellationSignal }
  return theirs.agent.request(methods.agent.session.prompt, { sessionId, prompt: text }, how)
}

const TWO = [STORE, { ...STORE, id: 'cache', question: 'Which cache?' }]

describe('an agent under an editor', () => {
  test('asks by the capabilities of its initialize, several at once', async () => {
    const endings: unknown[] = []
    const both = connected(
      {
        form: ({ requestedSchema: { properties } }) => {
          const [name = ''] = Object.keys(properties)
          return { action: 'accept', content: { [name]: name === 'db' ? 'Postgres' : 'SQLite' } }
        },
      },
      asker(TWO, endings),
    )
    expect(await prompt(both)).toEqual({ stopReason: 'end_turn' })
    expect(endings).toEqual([
      { answers: [{ id: 'db', selected: ['Postgres'] }] },
      { answers: [{ id: 'cache', selected: ['SQLite'] }] },
    ])
  })

  test('ends everything it asked when the session is cancelled, shown or queued', async () => {
    const endings: unknown[] = []
    const [up, down] = [held<void>(), held<void>()]
    let shown = 0
    const both = connected(
      {
        // It neither answers nor dismisses: not every editor does what the protocol asks of it here.
        form(_, signal) {
          shown += 1
          up.resolve()
          signal.addEventListener('abort', () => down.resolve())
          return new Promise(() => {})
        },
      },
      asker(TWO, endings),
    )
    const prompting = prompt(both)
    await up.promise
    await both.theirs.agent.notify(methods.agent.session.cancel, { sessionId: 'session-1' })
    expect(await prompting).toEqual({ stopReason: 'cancelled' })
    await down.promise
    expect(endings).toMatchObject([
      { code: 'ASK_CANCELLED', details: { reason: 'the turn was cancelled' } },
      { code: 'ASK_CANCELLED', details: { reason: 'the turn was cancelled' } },
    ])
    expect(shown).toBe(1)
  })

  test('takes its dialog down when the prompt itself is cancelled', async () => {
    const endings: unknown[] = []
    const [up, down] = [held<void>(), held<void>()]
    const both = connected(
      {
        form(_, signal) {
          up.resolve()
          return new Promise(resolve => {
            signal.addEventListener('abort', () => {
              down.resolve()
              resolve({ action: 'cancel' })
            })
          })
        },
      },
      asker([STORE], endings),
    )
    const controller = new AbortController()
    const prompting = prompt(both, controller.signal).catch((error: unknown) => error)
    await up.promise
    controller.abort()
    await down.promise
    await prompting
    expect(endings).toMatchObject([{ code: 'ASK_ABORTED' }])
  })
})

test('cancelling a session leaves the others, and cancelling all leaves none', async () => {
  const { ours } = connected({ form: () => new Promise(() => {}) })
  const provider = acpProvider(ours.client, {
    sessionId: ({ session }) => session,
    capabilities: { elicitation: { form: {} } },
  })
  const ended: string[] = []
  const asking = ['a', 'b'].map(session =>
    provider
      .ask({
        id: session,
        session,
        questions: [STORE],
        signal: new AbortController().signal,
        engaged: () => {},
      })
      .catch((error: UserQuestionError) => ended.push(`${session} ${error.code}`)),
  )
  provider.cancelSession('a')
  await asking[0]
  expect(ended).toEqual(['a ASK_CANCELLED'])
  provider.cancelSession()
  await asking[1]
  expect(ended).toEqual(['a ASK_CANCELLED', 'b ASK_CANCELLED'])
})
