import { toToolSchema } from '@handraise/tools'
import { askUserTool } from '@handraise/tool-ask-user'
import type { Decision } from '@handraise/inbox'
import { describe, expect, test } from 'vitest'
import type { Screen } from './provider-clients.ts'
import {
  ANSWERED,
  ask,
  chooses,
  codeOf,
  decide,
  ERAS,
  HeldClock,
  join,
  nobody,
  offer,
  onePending,
  pendingIn,
  QUESTIONS,
  settle,
  textOf,
  TOOL,
} from './offer-scene.ts'

const OTHERS = [{ id: 'db', question: 'Which other store?' }]

describe.each(ERAS)('a client of %s', era => {
  test('is offered the one neutral tool, and how to go on with a question', async () => {
    const client = await join(await offer(), era)
    const { tools } = await client.listTools()
    const neutral = toToolSchema(askUserTool({ ask: async () => ({ answers: [] }) }) as never)
    expect(tools.map(({ name }) => name)).toEqual([TOOL])
    const [tool] = tools
    expect(tool?.description).toContain(neutral.description)
    expect(tool?.description).toContain('request_id')
    const { properties, required } = tool?.inputSchema ?? {}
    expect(required ?? []).toEqual([])
    expect(properties).toEqual({
      ...(neutral.parameters['properties'] as object),
      request_id: { type: 'string', description: expect.stringContaining('without questions') },
    })
    expect(tool?.outputSchema?.properties).toHaveProperty('answers')
  })

  test('is answered by a form, and the inbox has it', async () => {
    const { inbox, ...host } = await offer()
    const client = await join({ inbox, ...host }, era, { screen: chooses('SQLite') })
    const result = await ask(client)
    expect(textOf(result)).toBe(ANSWERED)
    const id = result.structuredContent?.request_id ?? ''
    expect(result.structuredContent).toEqual({
      status: 'answered',
      request_id: id,
      answers: [{ id: 'db', selected: ['SQLite'] }],
    })
    const { settlement, session } = await inbox.get(id)
    expect(settlement).toMatchObject({ outcome: 'answered', surface: 'mcp', by: 'user' })
    expect(session).toBe('mcp/name/local')
  })

  test('is answered in the inbox when it shows no forms', async () => {
    const host = await offer()
    const asking = ask(await join(host, era))
    await decide(host.inbox, await onePending(host.inbox))
    expect(textOf(await asking)).toBe(ANSWERED)
  })

  test('is answered in the inbox when it is told so, whatever it can show', async () => {
    const host = await offer({ answerIn: 'inbox' })
    const asking = ask(await join(host, era, { screen: chooses('Postgres') }))
    await decide(host.inbox, await onePending(host.inbox))
    expect(textOf(await asking)).toBe(ANSWERED)
  })

  test.each([
    ['decline', 'ASK_DECLINED', 'declined'],
    ['cancel', 'ASK_CANCELLED', 'cancelled'],
  ])('is told of a person’s %s', async (action, code, outcome) => {
    const host = await offer()
    const result = await ask(await join(host, era, { screen: () => ({ action }) }))
    expect(codeOf(result)).toBe(code)
    expect(textOf(result)).toMatch(/^Error: the user (declined|dismissed)/u)
    const { requests } = await host.inbox.list({ state: 'settled' })
    expect(requests.map(({ settlement }) => settlement?.outcome)).toEqual([outcome])
  })

  test.each<[Decision, string, string]>([
    [{ outcome: 'declined', reason: 'not mine to say' }, 'ASK_DECLINED', 'not mine to say'],
    [{ outcome: 'cancelled' }, 'ASK_CANCELLED', 'without deciding'],
    [{ outcome: 'clarified', text: 'what for?' }, 'ASK_CLARIFIED', 'what for?'],
    [{ outcome: 'interrupted' }, 'ASK_INTERRUPTED', 'stop and wait'],
  ])('is told each ending apart: $outcome', async (decision, code, said) => {
    const host = await offer()
    const asking = ask(await join(host, era))
    const id = await onePending(host.inbox)
    await host.inbox.decide(id, decision, { commandId: 'c1', surface: 'page' })
    const result = await asking
    expect(codeOf(result)).toBe(code)
    expect(textOf(result)).toContain(said)
  })

  test('is told that nobody could be asked where nobody is waited for', async () => {
    const host = await offer({}, { viewer: 'require' })
    const result = await ask(await join(host, era))
    expect(codeOf(result)).toBe('ASK_UNAVAILABLE')
    expect(await pendingIn(host.inbox)).toEqual([])
  })

  test('is asked by a form where nobody else looks', async () => {
    const host = await offer({}, { viewer: 'require' })
    const client = await join(host, era, { screen: chooses('SQLite') })
    expect(textOf(await ask(client))).toBe(ANSWERED)
  })

  test.each<[string, Screen]>([
    ['declines', () => ({ action: 'decline' })],
    ['cancels', () => ({ action: 'cancel' })],
    ['fills in', chooses('Postgres')],
  ])('says nothing of its own: what it %s by itself waits in the inbox', async (_, screen) => {
    const host = await offer({ autoDeclineMs: 10_000 })
    const asking = ask(await join(host, era, { screen }))
    await decide(host.inbox, await onePending(host.inbox))
    expect(textOf(await asking)).toBe(ANSWERED)
    const { requests } = await host.inbox.list({ state: 'settled' })
    expect(requests.map(({ settlement }) => settlement?.surface)).toEqual(['page'])
  })

  test('that is known to decline by itself is not taken at its word', async () => {
    const host = await offer({ neverDeclines: ['printer'] })
    const asking = ask(await join(host, era, { name: 'printer', screen: () => ({ action: 'decline' }) }))
    await decide(host.inbox, await onePending(host.inbox))
    expect(textOf(await asking)).toBe(ANSWERED)
  })

  test('is asked again for what is no answer, and three times at most', async () => {
    const host = await offer()
    const shown: string[] = []
    const asking = ask(
      await join(host, era, {
        screen: form => {
          shown.push(form.message)
          return { action: 'accept', content: { db: 'SQLite', db__other: 'and another' } }
        },
      }),
    )
    const id = await onePending(host.inbox)
    await expect.poll(() => shown.length).toBe(3)
    expect(shown[1]).toContain('That is no answer yet')
    await settle()
    await decide(host.inbox, id)
    expect(textOf(await asking)).toBe(ANSWERED)
    expect(shown).toHaveLength(3)
  })

  test('is told what is wrong with its arguments, and nobody is asked', async () => {
    const host = await offer()
    const client = await join(host, era, { screen: chooses('SQLite') })
    for (const args of [
      {},
      { questions: [] },
      { questions: [{ id: 'a', question: ' ' }] },
      { request_id: 7 },
      { questions: [{ id: 'a', question: 'x'.repeat(200_001) }] },
      { questions: [{ id: 'a', question: 'é'.repeat(100_001) }] },
      { questions: JSON.parse('['.repeat(60) + ']'.repeat(60)) as unknown },
      { questions: JSON.parse('['.repeat(2_000) + ']'.repeat(2_000)) as unknown },
    ]) {
      const result = await ask(client, args)
      expect(codeOf(result)).toMatch(/^(INVALID_ARGS|EMPTY_QUESTIONS)$/u)
      expect(textOf(result)).not.toContain('answers":[')
    }
    expect((await host.inbox.list({ state: 'settled' })).requests).toEqual([])
    expect(await pendingIn(host.inbox)).toEqual([])
  })

  test('may send what models send, where it has one sure reading', async () => {
    const host = await offer()
    const client = await join(host, era, { screen: chooses('SQLite') })
    const args = { questions: JSON.stringify([{ ...QUESTIONS[0], options: ['Postgres', 'SQLite'] }]) }
    expect(textOf(await ask(client, args))).toBe(ANSWERED)
  })

  test('asks anew when it asks the same again', async () => {
    const host = await offer()
    const client = await join(host, era, { screen: chooses('SQLite') })
    const [first, second] = [await ask(client), await ask(client)]
    expect(first.structuredContent?.request_id).not.toBe(second.structuredContent?.request_id)
  })

  test('asks once with one tool call, however often it is sent', async () => {
    const host = await offer()
    const client = await join(host, era)
    const asking = [1, 2, 3].map(() => ask(client, { questions: QUESTIONS }, { callId: 'call-1' }))
    await settle()
    const pending = await pendingIn(host.inbox)
    expect(pending).toHaveLength(1)
    await decide(host.inbox, pending[0] ?? '')
    for (const result of await Promise.all(asking)) expect(textOf(result)).toBe(ANSWERED)
    const again = await ask(client, { questions: QUESTIONS }, { callId: 'call-1' })
    expect(again.structuredContent?.request_id).toBe(pending[0])
    const other = await ask(client, { questions: OTHERS }, { callId: 'call-1' })
    expect(codeOf(other)).toBe('KEY_CONFLICT')
  })

  test('asks two things at once, each with its own answer', async () => {
    const host = await offer()
    const [one, two] = await Promise.all([
      join(host, era, { screen: chooses('SQLite') }),
      join(host, era, { screen: chooses('Postgres') }),
    ])
    const [first, second] = await Promise.all([ask(one), ask(two)])
    expect([textOf(first), textOf(second)]).toEqual([ANSWERED, ANSWERED.replace('SQLite', 'Postgres')])
  })

  test('that fails to show a form is answered in the inbox', async () => {
    const host = await offer()
    const client = await join(host, era, {
      screen: () => {
        throw new Error('no screen here')
      },
    })
    const asking = ask(client).catch((error: unknown) => error)
    const id = await onePending(host.inbox)
    // A client of 2026 fails its own call then, and the server never hears of it.
    if (era === '2026') return expect(await asking).toBeInstanceOf(Error)
    await settle()
    await decide(host.inbox, id)
    expect(await asking).toMatchObject({ structuredContent: { status: 'answered' } })
  })

  test.each([
    [{ id: 'password', question: 'Which password?' }],
    [{ id: 'db', header: 'Database', question: 'What is your database password?' }],
    [{ id: 'k', header: 'API key', question: 'Paste it here' }],
    [
      {
        id: 'k',
        header: 'Access',
        question: 'What is your API key?',
        options: [{ label: 'None' }, { label: 'Later' }],
      },
    ],
  ])('is not asked for a secret by a form, but in the inbox: %j', async question => {
    const page = 'http://127.0.0.1:4100/'
    const host = await offer({ page: () => page })
    const shown = nobody()
    const client = await join(host, era, { screen: shown.screen })
    const told: string[] = []
    const asking = ask(
      client,
      { questions: [question] },
      { onprogress: ({ message = '' }) => void told.push(message) },
    )
    const id = await onePending(host.inbox)
    await expect.poll(() => told.some(message => message.includes(page))).toBe(true)
    expect(shown.count()).toBe(0)
    await host.inbox.decide(id, { outcome: 'declined' }, { commandId: 'c1', surface: 'page' })
    expect(codeOf(await asking)).toBe('ASK_DECLINED')
  })

  test('is told why no form was shown for a secret, when nobody has answered it in time', async () => {
    const clock = new HeldClock()
    const host = await offer({}, { clock })
    const texts: string[] = []
    for (const question of ['What is your API key?', 'Which API?']) {
      const screen = nobody().screen
      const client = await join(host, era, era === '2026' && question === 'Which API?' ? {} : { screen })
      const asking = ask(client, { questions: [{ id: 'k', question }] })
      await settle()
      await clock.pass(50_000)
      texts.push(textOf(await asking))
    }
    const why = 'No form was shown to them here, since it asks for a secret'
    expect(texts.map(text => text.includes(why))).toEqual([true, false])
  })

  test.each(['Max tokens?', 'Token budget?', 'Where should API keys be stored?'])(
    'is asked by a form for an ordinary choice: %s',
    async question => {
      const host = await offer()
      const client = await join(host, era, { screen: chooses('SQLite') })
      expect(textOf(await ask(client, { questions: [{ ...QUESTIONS[0], question }] }))).toBe(ANSWERED)
    },
  )

  test('is asked by a form for a choice that only speaks of tokens', async () => {
    const host = await offer()
    const client = await join(host, era, { screen: chooses('SQLite') })
    const questions = [{ ...QUESTIONS[0], header: 'Sessions', question: 'Which store for the tokens?' }]
    expect(textOf(await ask(client, { questions }))).toBe(ANSWERED)
  })
})

describe('asked in both places', () => {
  const page = 'http://127.0.0.1:4100/'

  test('a client of 2025 is told of the page beside its form', async () => {
    const host = await offer({ answerIn: 'both', page: () => page })
    const shown = nobody()
    const told: string[] = []
    const client = await join(host, '2025', { screen: shown.screen })
    const asking = ask(client, undefined, { onprogress: ({ message = '' }) => void told.push(message) })
    await shown.up
    await expect.poll(() => told.filter(message => message.includes(page)).length).toBe(1)
    await decide(host.inbox, await onePending(host.inbox))
    expect(textOf(await asking)).toBe(ANSWERED)
  })

  test('a client of 2026 is told of it in the form', async () => {
    const host = await offer({ answerIn: 'both', page: () => page })
    const messages: string[] = []
    const client = await join(host, '2026', {
      screen: ({ message }) => {
        messages.push(message)
        return { action: 'accept', content: { db: 'SQLite' } }
      },
    })
    expect(textOf(await ask(client))).toBe(ANSWERED)
    expect(messages).toEqual([`You can answer on the page ${page} too.\n\nWhich store?`])
  })
})

test('a page that cannot be found keeps nobody from asking', async () => {
  const host = await offer({
    page() {
      throw new Error('no page here')
    },
  })
  const asking = ask(await join(host, '2025'))
  await decide(host.inbox, await onePending(host.inbox))
  expect(textOf(await asking)).toBe(ANSWERED)
})

test('an answer on the page takes the form down', async () => {
  const host = await offer()
  const shown = nobody()
  const asking = ask(await join(host, '2025', { screen: shown.screen }))
  await shown.up
  await decide(host.inbox, await onePending(host.inbox))
  expect(textOf(await asking)).toBe(ANSWERED)
  await shown.down
})

test('an answer on the page stands, whatever the form of a client of 2026 says later', async () => {
  const host = await offer()
  const client = await join(host, '2026', {
    screen: async () => {
      await decide(host.inbox, await onePending(host.inbox))
      return { action: 'accept', content: { db: 'Postgres' } }
    },
  })
  expect(textOf(await ask(client))).toBe(ANSWERED)
})

test('no clock runs on when all is answered', async () => {
  const clock = new HeldClock()
  const host = await offer({}, { clock })
  const before = clock.armed
  const asking = ask(await join(host, '2025'))
  await decide(host.inbox, await onePending(host.inbox))
  await asking
  expect(clock.armed).toBe(before)
})
