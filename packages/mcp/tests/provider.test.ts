import type { Form } from '@handraise/elicitation'
import { UserQuestionError, UserQuestionService, type Question } from '@handraise/user-questions'
import { McpServer } from '@modelcontextprotocol/server'
import { Context } from 'cordis'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { mcpElicitationProvider } from '../src/provider.ts'
import { HandClock, held, requestOf, STORE } from './provider-asking.ts'
import { clientV1, clientV2, serverFor, type Screen } from './provider-clients.ts'

/** A person who takes 2 s, then does the next of `replies` with each form; and the forms they saw. */
function person(...replies: unknown[]) {
  const clock = new HandClock()
  const forms: Form[] = []
  const screen: Screen = form => {
    forms.push(form)
    clock.pass(2_000)
    return replies[forms.length - 1]
  }
  return { clock, forms, screen }
}

const accept = (content: object) => ({ action: 'accept', content })

async function openSeam(...plugins: object[]): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  for (const plugin of plugins) await ctx.plugin(plugin as Parameters<Context['plugin']>[0])
  return ctx
}

describe('a form at the client', () => {
  test.each([
    ['the official client', clientV2],
    ['the official client of the first generation', clientV1],
  ])('reaches %s whole, with the label as the value of a choice', async (_, clientOf) => {
    const { clock, forms, screen } = person(accept({ db: 'SQLite (Recommended)' }))
    const server = await serverFor(clientOf(screen))
    const provider = mcpElicitationProvider(server, { clock })
    expect(await provider.ask(requestOf())).toEqual({
      answers: [{ id: 'db', selected: ['SQLite (Recommended)'] }],
    })
    expect(forms).toMatchObject([
      {
        mode: 'form',
        message: 'Which store?',
        requestedSchema: {
          type: 'object',
          properties: {
            db: {
              type: 'string',
              title: 'Store',
              oneOf: [
                { const: 'Postgres', title: 'Postgres — A server.' },
                { const: 'SQLite (Recommended)', title: 'SQLite (Recommended)' },
              ],
            },
            db__other: { type: 'string' },
          },
        },
      },
    ])
  })

  test('may be asked of the low-level server as well', async () => {
    const { clock, screen } = person(accept({ db: 'Postgres' }))
    const { server } = await serverFor(clientV2(screen))
    const { answers } = await mcpElicitationProvider(server, { clock }).ask(requestOf())
    expect(answers).toEqual([{ id: 'db', selected: ['Postgres'] }])
  })

  test.each([
    ['the official client', clientV2],
    ['the official client of the first generation', clientV1],
  ])('holds no defaults where %s would fill them in for the person', async (_, clientOf) => {
    const preset: Question = { ...STORE, default: { selected: ['Postgres'] } }
    const capabilities = { elicitation: { form: { applyDefaults: true } } }
    const { clock, forms, screen } = person(accept({}))
    const provider = mcpElicitationProvider(await serverFor(clientOf(screen, { capabilities })), { clock })
    expect((await provider.ask(requestOf([preset]))).answers).toEqual([{ id: 'db', selected: [] }])
    expect(JSON.stringify(forms)).not.toContain('"default"')
  })

  test('opens with the defaults where the person is shown them', async () => {
    const preset: Question = { ...STORE, default: { selected: ['Postgres'] } }
    const { clock, forms, screen } = person(accept({ db: 'Postgres' }))
    const provider = mcpElicitationProvider(await serverFor(clientV2(screen)), { clock })
    expect((await provider.ask(requestOf([preset]))).answers).toEqual([{ id: 'db', selected: ['Postgres'] }])
    expect(forms[0]?.requestedSchema.properties.db?.default).toBe('Postgres')
  })

  test('outlasts the minute after which the SDK gives up', async () => {
    vi.useFakeTimers()
    const answering = held<unknown>()
    const server = await serverFor(clientV2(() => answering.promise))
    const asking = mcpElicitationProvider(server).ask(requestOf())
    await vi.advanceTimersByTimeAsync(14 * 24 * 3_600_000)
    answering.resolve(accept({ db: 'Postgres' }))
    expect((await asking).answers).toEqual([{ id: 'db', selected: ['Postgres'] }])
    expect(vi.getTimerCount()).toBe(0)
  })
  afterEach(() => void vi.useRealTimers())
})

describe('content that is no answer', () => {
  test('is asked for again with the reason', async () => {
    const { clock, forms, screen } = person(
      accept({ db: 'MySQL' }),
      accept({ db: 'Postgres', db__other: 'both' }),
      accept({ db: 'Postgres' }),
    )
    const provider = mcpElicitationProvider(await serverFor(clientV2(screen)), { clock })
    expect((await provider.ask(requestOf())).answers).toEqual([{ id: 'db', selected: ['Postgres'] }])
    expect(forms[1]?.message).toContain('Store: "MySQL" was not offered')
    expect(forms[2]?.message).toContain('Store: choose one, or write an answer of your own; not both')
  })

  test('fails the provider after three rounds', async () => {
    const { clock, forms, screen } = person(...Array.from({ length: 5 }, () => accept({ db: 'MySQL' })))
    const ctx = await openSeam()
    ctx.userQuestions.registerProvider(mcpElicitationProvider(await serverFor(clientV2(screen)), { clock }))
    const asking = ctx.userQuestions.ask({ questions: [STORE] })
    await expect(asking).rejects.toMatchObject({
      code: 'PROVIDER_FAILED',
      message: expect.stringContaining('the provider mcp failed: no answer after 3 rounds: db: "MySQL" was'),
    })
    expect(forms).toHaveLength(3)
  })
})

describe('a person who does not answer', () => {
  test.each([
    ['decline', 'ASK_DECLINED'],
    ['cancel', 'ASK_CANCELLED'],
  ])('ends the ask by %s as %s', async (action, code) => {
    const { clock, screen } = person({ action })
    const provider = mcpElicitationProvider(await serverFor(clientV2(screen)), { clock })
    await expect(provider.ask(requestOf())).rejects.toMatchObject({ code })
  })
})

describe('a client that cannot ask', () => {
  const unavailable = { code: 'ASK_UNAVAILABLE', details: { reason: 'no-capable-client' } }

  test.each([
    ['declares nothing', {}],
    ['declares links alone', { elicitation: { url: {} } }],
  ])('makes the ask unavailable when it %s', async (_, capabilities) => {
    const screen = vi.fn<Screen>()
    const client = clientV2(undefined, { capabilities })
    client.fallbackRequestHandler = async () => ({ action: screen({} as Form, new AbortController().signal) })
    const provider = mcpElicitationProvider(await serverFor(client))
    await expect(provider.ask(requestOf())).rejects.toMatchObject(unavailable)
    expect(screen).not.toHaveBeenCalled()
  })

  test('can when it declares elicitation without a mode', async () => {
    for (const clientOf of [clientV1, clientV2]) {
      const { clock, screen } = person(accept({ db: 'Postgres' }))
      const server = await serverFor(clientOf(screen, { capabilities: { elicitation: {} } }))
      expect(await mcpElicitationProvider(server, { clock }).ask(requestOf())).toBeDefined()
    }
  })

  test('makes the ask unavailable when it has no handler for what it declares', async () => {
    const provider = mcpElicitationProvider(await serverFor(clientV2()))
    await expect(provider.ask(requestOf())).rejects.toMatchObject(unavailable)
  })

  test('makes the ask unavailable while it is not there, or no longer', async () => {
    const server = new McpServer({ name: 'agent', version: '1.0.0' })
    await expect(mcpElicitationProvider(server).ask(requestOf())).rejects.toMatchObject(unavailable)
    const client = clientV2(() => accept({ db: 'Postgres' }))
    const provider = mcpElicitationProvider(await serverFor(client))
    await client.close()
    await expect(provider.ask(requestOf())).rejects.toMatchObject(unavailable)
  })
})

describe('a client that fails', () => {
  test('fails the provider, with what it said as the cause', async () => {
    const screen = (): never => {
      throw new Error('the window is on fire')
    }
    const ctx = await openSeam()
    ctx.userQuestions.registerProvider(mcpElicitationProvider(await serverFor(clientV2(screen))))
    const ended = await ctx.userQuestions.ask({ questions: [STORE] }).catch((error: unknown) => error)
    expect(ended).toMatchObject({ code: 'PROVIDER_FAILED', cause: { code: -32603 } })
    expect(String(ended)).toContain('the window is on fire')
  })

  test('that leaves in the middle of a question fails the provider', async () => {
    const shown = held<void>()
    const client = clientV2(() => {
      shown.resolve()
      return new Promise(() => {})
    })
    const ctx = await openSeam()
    ctx.userQuestions.registerProvider(mcpElicitationProvider(await serverFor(client)))
    const asking = ctx.userQuestions.ask({ questions: [STORE] }).catch((error: unknown) => error)
    await shown.promise
    await client.close()
    expect(await asking).toMatchObject({ code: 'PROVIDER_FAILED', cause: { message: 'Connection closed' } })
  })
})

describe('several asks', () => {
  test('are shown one form at a time, also those of two providers', async () => {
    const shown: string[] = []
    const replies = [held<unknown>(), held<unknown>(), held<unknown>()]
    const server = await serverFor(
      clientV2(form => {
        shown.push(form.message)
        return replies[shown.length - 1]?.promise
      }),
    )
    const options = { autoDeclineMs: 0 }
    const [one, two] = [mcpElicitationProvider(server, options), mcpElicitationProvider(server, options)]
    const questions = ['First?', 'Second?', 'Third?'].map((question, index) => [
      { ...STORE, id: `q${index}`, question },
    ])
    const asking = questions.map((each, index) => (index === 1 ? two : one).ask(requestOf(each)))
    await vi.waitFor(() => expect(shown).toEqual(['First?']))
    // The last may be answered in words only; which form is up decides which ask it is for.
    for (const [index, reply] of replies.entries()) {
      reply.resolve(accept({ [`q${index}`]: index === 1 ? 'Postgres' : 'SQLite (Recommended)' }))
      await asking[index]
    }
    expect(shown).toEqual(['First?', 'Second?', 'Third?'])
    expect((await asking[1])?.answers).toEqual([{ id: 'q1', selected: ['Postgres'] }])
  })

  test('leave out one that was aborted before its turn', async () => {
    const first = held<unknown>()
    const shown: string[] = []
    const server = await serverFor(
      clientV2(form => {
        shown.push(form.message)
        return first.promise
      }),
    )
    const provider = mcpElicitationProvider(server, { autoDeclineMs: 0 })
    const asking = provider.ask(requestOf())
    const controller = new AbortController()
    const late = provider.ask(requestOf([{ ...STORE, question: 'Late?' }], controller.signal))
    const reason = new UserQuestionError('ASK_ABORTED')
    controller.abort(reason)
    await expect(late).rejects.toBe(reason)
    first.resolve(accept({ db: 'Postgres' }))
    await asking
    expect(shown).toEqual(['Which store?'])
  })
})

describe('an ask that is aborted', () => {
  test.each([
    ['the official client', clientV2],
    ['the official client of the first generation', clientV1],
  ])('takes the form down at %s', async (_, clientOf) => {
    const [up, down] = [held<void>(), held<void>()]
    const server = await serverFor(
      clientOf((_form, signal) => {
        up.resolve()
        signal.addEventListener('abort', () => down.resolve())
        return new Promise(() => {})
      }),
    )
    const controller = new AbortController()
    const asking = mcpElicitationProvider(server).ask(requestOf([STORE], controller.signal))
    await up.promise
    const reason = new UserQuestionError('ASK_ABORTED', { reason: 'answered by web' })
    controller.abort(reason)
    await expect(asking).rejects.toBe(reason)
    await down.promise
  })
})
