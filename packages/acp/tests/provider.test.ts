import { UserQuestionError, UserQuestionService, type Question } from '@handraise/user-questions'
import { RequestError } from '@agentclientprotocol/sdk'
import { Context } from 'cordis'
import { describe, expect, test, vi } from 'vitest'
import { acpProvider } from '../src/index.ts'
import { held, requestOf, STORE } from './asking.ts'
import { connected, FORMS, type Editor, type ShownForm } from './editor.ts'

const accept = (content: object) => ({ action: 'accept', content })
const unsupported = { code: 'ASK_UNAVAILABLE', details: { reason: 'unsupported-question' } }
const unavailable = { code: 'ASK_UNAVAILABLE', details: { reason: 'no-capable-client' } }

/** A provider of the session `session-1`, in whose editor forms can be shown. */
function providerOf(form: Editor['form']) {
  const { ours } = connected({ form })
  // The person here is faster than any.
  return acpProvider(ours.client, { sessionId: 'session-1', capabilities: FORMS, autoAnswerMs: 0 })
}

/** A client that does the next of these with each form; and the forms it saw. */
function replies(...each: unknown[]) {
  const forms: ShownForm[] = []
  const form = (shown: ShownForm): unknown => each[forms.push(shown) - 1]
  return { forms, form }
}

async function openSeam(): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  return ctx
}

describe('a form in the editor', () => {
  test('is of the session and the tool call, and describes every option at its place', async () => {
    const { forms, form } = replies(accept({ db: 'Postgres' }))
    expect(await providerOf(form).ask(requestOf({ key: 'call-1' }))).toEqual({
      answers: [{ id: 'db', selected: ['Postgres'] }],
    })
    expect(forms).toMatchObject([
      {
        mode: 'form',
        sessionId: 'session-1',
        toolCallId: 'call-1',
        message: 'Which store?',
        requestedSchema: {
          properties: {
            db: {
              type: 'string',
              oneOf: [
                { const: 'Postgres', title: 'Postgres', description: 'A server.' },
                { const: 'SQLite', title: 'SQLite' },
              ],
            },
            db__other: { type: 'string' },
          },
        },
      },
    ])
  })

  test('names no tool call where there is none', async () => {
    const { forms, form } = replies(accept({}))
    await providerOf(form).ask(requestOf())
    expect(forms[0]).not.toHaveProperty('toolCallId')
  })

  test('goes to the session of its request', async () => {
    const { forms, form } = replies(accept({}), accept({}))
    const { ours } = connected({ form })
    const sessionId = ({ session }: { session?: string | undefined }): string | undefined => session
    const provider = acpProvider(ours.client, { sessionId, capabilities: FORMS, autoAnswerMs: 0 })
    await provider.ask(requestOf({ session: 'a' }))
    await provider.ask(requestOf({ session: 'b' }))
    expect(forms.map(shown => (shown as { sessionId?: string }).sessionId)).toEqual(['a', 'b'])
    await expect(provider.ask(requestOf())).rejects.toMatchObject(unavailable)
  })

  test.each([
    ['decline', 'ASK_DECLINED'],
    ['cancel', 'ASK_CANCELLED'],
  ])('ends the ask by %s as %s', async (action, code) => {
    await expect(providerOf(() => ({ action })).ask(requestOf())).rejects.toMatchObject({ code })
  })

  test('holds several choices, words and all', async () => {
    const checks: Question = {
      id: 'checks',
      question: 'Which?',
      multiSelect: true,
      options: [{ label: 'Lint' }, { label: 'Tests' }],
    }
    const { form } = replies(accept({ checks: ['Tests', 'Lint'], checks__other: 'docs' }))
    expect((await providerOf(form).ask(requestOf({ questions: [checks] }))).answers).toEqual([
      { id: 'checks', selected: ['Lint', 'Tests'], custom: 'docs' },
    ])
  })
})

describe('what an editor would read as Markdown in a form', () => {
  const MARKUP = '[x](https://evil.example) ![y](https://evil.example/?q) <b>*now*</b>'
  const SHOWN = String.raw`\[x\](https://evil.example) !\[y\](https://evil.example/?q) \<b\>\*now\*\</b\>`
  const LINES = `${MARKUP}\n# Approved\n\`\`\``
  const CODE = `\`\`\`\`\n${LINES}\n\`\`\`\``
  const marked: Question = {
    id: 'a',
    question: MARKUP,
    header: '**Store**',
    detail: LINES,
    options: [
      { label: MARKUP, description: MARKUP },
      { label: '`ls`', description: LINES },
    ],
  }

  test('is only itself in the message of one question, and in every title and description', async () => {
    const { forms, form } = replies(accept({ a: MARKUP }))
    expect((await providerOf(form).ask(requestOf({ questions: [marked] }))).answers).toEqual([
      { id: 'a', selected: [MARKUP] },
    ])
    expect(forms[0]?.message).toBe(`${SHOWN}\n\n${CODE}`)
    expect(forms[0]?.requestedSchema.properties).toEqual({
      a: {
        type: 'string',
        title: String.raw`\*\*Store\*\*`,
        oneOf: [
          { const: MARKUP, title: SHOWN, description: SHOWN },
          { const: '`ls`', title: String.raw`\`ls\``, description: CODE },
        ],
      },
      a__other: {
        type: 'string',
        title: String.raw`\*\*Store\*\*: your own answer`,
        description: 'Instead of choosing above.',
      },
    })
  })

  test('is only itself in the list of several, and in what stands at each', async () => {
    const words: Question = { id: 'b', question: '- __Why__?\n# Now', detail: 'a  b' }
    const { forms, form } = replies(accept({}))
    await providerOf(form).ask(requestOf({ questions: [marked, words] }))
    expect(forms[0]?.message).toBe(String.raw`1. ${SHOWN}` + '\n' + String.raw`2. \- \_\_Why\_\_? # Now`)
    expect(forms[0]?.requestedSchema.properties).toMatchObject({
      a: { description: `${SHOWN}\n\n${CODE}` },
      b: { title: String.raw`\- \_\_Why\_\_? # Now`, description: '```\na  b\n```' },
    })
  })

  test('is only itself in the reason why it is asked again', async () => {
    const { forms, form } = replies(accept({ a: '![z](https://evil.example)' }), accept({ a: '`ls`' }))
    await providerOf(form).ask(requestOf({ questions: [marked] }))
    expect(forms[1]?.message).toContain(String.raw`\*\*Store\*\*: "!\[z\](https://evil.example)" was not`)
    expect(forms[1]?.message).not.toContain('![z](')
  })
})

describe('what comes back and is no answer', () => {
  test('is asked for again with the reason', async () => {
    const { forms, form } = replies(
      accept({ db: ['Postgres'] }),
      { action: 'accept' },
      accept({ db: 'SQLite' }),
    )
    expect((await providerOf(form).ask(requestOf())).answers).toEqual([{ id: 'db', selected: ['SQLite'] }])
    expect(forms[1]?.message).toContain('Store: Invalid input: expected string')
    expect(forms[2]?.message).toContain('an accepted form comes with its content')
  })

  test.each([
    ['content that never fits', accept({ db: { deep: 'Postgres' } }), 'no answer after 3 rounds'],
    ['an action of its own', { action: '_later' }, 'unknown action "_later"'],
    ['nothing', null, 'did not say what became of the form'],
    ['something else', { outcome: 'selected' }, 'did not say what became of the form'],
  ])('fails the provider when it is %s', async (_, reply, fault) => {
    const ctx = await openSeam()
    ctx.userQuestions.registerProvider(providerOf(() => reply))
    await expect(ctx.userQuestions.ask({ questions: [STORE] })).rejects.toMatchObject({
      code: 'PROVIDER_FAILED',
      message: expect.stringContaining(fault),
    })
  })
})

describe('a client that cannot ask', () => {
  const multi = [{ ...STORE, multiSelect: true }]

  test.each([
    ['declares nothing', undefined],
    ['declares elicitation without a mode', { elicitation: {} }],
    ['declares links alone', { elicitation: { url: {} } }],
    ['declares null', { elicitation: null }],
  ])('makes more than a choice unavailable when it %s', async (_, capabilities) => {
    const form = vi.fn<NonNullable<Editor['form']>>()
    const { ours } = connected({ form })
    const provider = acpProvider(ours.client, { sessionId: 'session-1', capabilities })
    await expect(provider.ask(requestOf({ questions: multi }))).rejects.toMatchObject(unsupported)
    await expect(
      provider.ask(requestOf({ questions: [{ id: 'a', question: 'Name?' }] })),
    ).rejects.toMatchObject(unsupported)
    expect(form).not.toHaveBeenCalled()
  })

  test('makes the ask unavailable when it has no handler', async () => {
    const { ours } = connected({})
    const withForms = acpProvider(ours.client, { sessionId: 'session-1', capabilities: FORMS })
    await expect(withForms.ask(requestOf())).rejects.toMatchObject({
      ...unavailable,
      cause: { code: -32601 },
    })
    const without = acpProvider(ours.client, { sessionId: 'session-1' })
    await expect(without.ask(requestOf())).rejects.toMatchObject(unavailable)
  })

  test('makes unavailable what cannot be put as questions', async () => {
    const provider = providerOf(() => accept({}))
    await expect(provider.ask(requestOf({ questions: [] }))).rejects.toMatchObject(unsupported)
  })
})

describe('a client that fails', () => {
  test('fails the provider, with what it said as the cause', async () => {
    const ctx = await openSeam()
    const form = (): never => {
      throw RequestError.invalidParams({ why: 'no such session' })
    }
    ctx.userQuestions.registerProvider(providerOf(form))
    await expect(ctx.userQuestions.ask({ questions: [STORE] })).rejects.toMatchObject({
      code: 'PROVIDER_FAILED',
      cause: { code: -32602, data: { why: 'no such session' } },
    })
  })

  test('that disconnects in the middle of a question fails the provider', async () => {
    const shown = held<void>()
    const { ours, theirs } = connected({
      form() {
        shown.resolve()
        return new Promise(() => {})
      },
    })
    const ctx = await openSeam()
    ctx.userQuestions.registerProvider(
      acpProvider(ours.client, { sessionId: 'session-1', capabilities: FORMS }),
    )
    const asking = ctx.userQuestions.ask({ questions: [STORE] }).catch((error: unknown) => error)
    await shown.promise
    theirs.close()
    ours.close()
    expect(await asking).toMatchObject({
      code: 'PROVIDER_FAILED',
      cause: { message: 'ACP connection closed' },
    })
    await expect(ctx.userQuestions.ask({ questions: [STORE] })).rejects.toMatchObject({
      code: 'PROVIDER_FAILED',
    })
  })

  test('that cancels the request by itself cancels the ask', async () => {
    const provider = providerOf(() => {
      throw RequestError.requestCancelled()
    })
    await expect(provider.ask(requestOf())).rejects.toMatchObject({ code: 'ASK_CANCELLED' })
  })
})

describe('several asks', () => {
  test('of a session are shown one at a time, and those of another beside them', async () => {
    const shown: string[] = []
    const waiting = new Map<string, (reply: unknown) => void>()
    const { ours } = connected({
      form: ({ message }) => {
        shown.push(message)
        return new Promise(resolve => waiting.set(message, resolve))
      },
    })
    const provider = acpProvider(ours.client, {
      sessionId: ({ session }) => session,
      capabilities: FORMS,
      autoAnswerMs: 0,
    })
    const ask = (session: string, question: string) =>
      provider.ask(requestOf({ session, questions: [{ ...STORE, question }] }))
    const asking = [ask('a', 'First?'), ask('a', 'Second?'), ask('b', 'Elsewhere?')]
    await expect.poll(() => shown).toEqual(['First?', 'Elsewhere?'])
    waiting.get('Elsewhere?')?.(accept({ db: 'SQLite' }))
    await asking[2]
    expect(shown).toHaveLength(2)
    waiting.get('First?')?.(accept({ db: 'Postgres' }))
    await asking[0]
    await expect.poll(() => shown).toContain('Second?')
    waiting.get('Second?')?.(accept({ db: 'SQLite' }))
    const labels = (await Promise.all(asking)).map(({ answers: [answer] }) => answer?.selected)
    expect(labels).toEqual([['Postgres'], ['SQLite'], ['SQLite']])
  })
})

describe('an ask that is aborted', () => {
  test('takes the dialog down, and is not held up by a client that goes on', async () => {
    const [up, down] = [held<void>(), held<void>()]
    const provider = providerOf((_form, signal) => {
      up.resolve()
      signal.addEventListener('abort', () => down.resolve())
      return new Promise(() => {})
    })
    const controller = new AbortController()
    const asking = provider.ask(requestOf({ signal: controller.signal }))
    await up.promise
    const reason = new UserQuestionError('ASK_ABORTED', { reason: 'answered by web' })
    controller.abort(reason)
    await expect(asking).rejects.toBe(reason)
    await down.promise
  })

  test('is not shown when that was before', async () => {
    const form = vi.fn<NonNullable<Editor['form']>>(() => accept({}))
    const reason = new Error('too late')
    const asking = providerOf(form).ask(requestOf({ signal: AbortSignal.abort(reason) }))
    await expect(asking).rejects.toBe(reason)
    expect(form).not.toHaveBeenCalled()
  })
})
