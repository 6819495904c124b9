import { describe, expect, test } from 'vitest'
import { answered, DB, serve } from './served.ts'

const MANY = {
  id: 'checks',
  question: 'Which checks?',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}

describe('answering', () => {
  test('settles the request, and records who answered', async () => {
    const { call, ask } = await serve()
    const id = await ask()
    const { status, json } = await call('POST', `/api/requests/${id}/answer`, {
      commandId: 'c1',
      surface: 'phone',
      ...answered('SQLite'),
    })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      repeated: false,
      request: {
        id,
        settlement: {
          outcome: 'answered',
          answer: answered('SQLite'),
          by: 'user',
          surface: 'phone',
          commandId: 'c1',
        },
      },
    })
  })

  test('is recorded as made on the web when no surface is named', async () => {
    const { client, ask } = await serve()
    const { request } = await client.answer(await ask(), 'SQLite')
    expect(request.settlement?.surface).toBe('web')
  })

  test('by a policy is refused for a kind that is no question, and the request stays pending', async () => {
    const { ctx, inbox, client } = await serve()
    ctx.inbox.registerKind({
      name: 'door',
      check: (_, answer) => ({ ok: true, answer: answer as never }),
      asQuestions: () => [{ id: 'door', question: 'Open it?', options: [{ label: 'Open' }] }],
      fromAnswers: (_, answers) => answers as never,
    })
    const { request } = await inbox.open({ kind: 'door', payload: {} })
    const refused = client.answer(request.id, '1', { by: 'policy' })
    await expect(refused).rejects.toMatchObject({ code: 'BAD_REQUEST', issues: [{ path: 'by' }] })
    expect((await client.get(request.id)).settlement).toBeUndefined()
    await client.answer(request.id, '1')
  })

  test('by a policy is recorded as such, answer by answer', async () => {
    const { client, ask } = await serve()
    const { request } = await client.answer(await ask(), 'SQLite', { by: 'policy' })
    expect(request.settlement).toMatchObject({
      by: 'policy',
      answer: { answers: [{ id: 'db', selected: ['SQLite'], by: 'policy' }] },
    })
  })

  test('resolves the ask of an agent in the host', async () => {
    const { ctx, client } = await serve()
    const asking = ctx.userQuestions.ask({ questions: [DB] })
    while ((await client.list()).requests.length === 0);
    const [request] = (await client.list()).requests
    await client.answer(request!.id, [{ id: 'db', selected: ['SQLite'] }])
    expect(await asking).toEqual(answered('SQLite'))
  })

  test('keeps ticks and text apart, in the order of the options', async () => {
    const { client, ask } = await serve()
    const id = await ask([MANY])
    const said = { id: 'checks', selected: ['Tests', 'Lint'], custom: 'also docs, please' }
    const { request } = await client.answer(id, [said])
    expect(request.settlement?.answer).toEqual({ answers: [{ ...said, selected: ['Lint', 'Tests'] }] })
  })

  test('of two at once lets one win, and tells the other who won', async () => {
    const { client, call, ask, inbox } = await serve()
    for (let round = 0; round < 20; round += 1) {
      const id = await ask()
      const waiting = inbox.wait(id)
      const replies = await Promise.all(
        ['Postgres', 'SQLite'].map((label, index) =>
          call('POST', `/api/requests/${id}/answer`, {
            commandId: `c${index}`,
            surface: `tab-${index}`,
            ...answered(label),
          }),
        ),
      )
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 409]))
      const winner = replies.find(({ status }) => status === 200)!.json.request.settlement
      const loser = replies.find(({ status }) => status === 409)!.json
      expect(loser).toMatchObject({ code: 'ALREADY_SETTLED', id, settlement: winner })
      expect((await waiting).settlement).toEqual(winner)
      expect((await client.get(id)).settlement).toEqual(winner)
    }
  })

  test('of fifty at once lets one win', async () => {
    const { call, ask } = await serve()
    const id = await ask()
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        call('POST', `/api/requests/${id}/answer`, { commandId: `c${index}`, ...answered('SQLite') }),
      ),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(49)
  })

  test('again with the same command gives the same receipt, and another body is a conflict', async () => {
    const { client, call, ask } = await serve()
    const id = await ask()
    const options = { commandId: 'c1' }
    const first = await client.answer(id, 'SQLite', options)
    expect(await client.answer(id, 'SQLite', options)).toEqual({ ...first, repeated: true })
    expect(await client.answer(id, [{ id: 'db', selected: ['SQLite'] }], options)).toEqual({
      ...first,
      repeated: true,
    })
    const { status, json } = await call('POST', `/api/requests/${id}/answer`, {
      ...options,
      ...answered('Postgres'),
    })
    expect(status).toBe(409)
    expect(json).toMatchObject({ code: 'COMMAND_CONFLICT', settlement: { answer: answered('SQLite') } })
    expect((await client.get(id)).settlement?.answer).toEqual(answered('SQLite'))
  })

  test.each([
    ['a label that was not offered', { answers: [{ id: 'db', selected: ['MySQL'] }] }, 'answers[0].selected'],
    ['two labels', { answers: [{ id: 'db', selected: ['Postgres', 'SQLite'] }] }, 'answers[0].selected'],
    ['an id that was not asked', { answers: [{ id: 'x', selected: [] }] }, 'answers[0].id'],
    ['no entry', { answers: [] }, 'answers'],
    ['a blank line', { text: '  ' }, 'text'],
    ['a command', { text: '/stop' }, 'text'],
  ])('with %s is refused by path, and leaves it pending', async (_, body, path) => {
    const { call, client, ask } = await serve()
    const id = await ask()
    const { status, json } = await call('POST', `/api/requests/${id}/answer`, { commandId: 'c1', ...body })
    expect(status).toBe(422)
    expect(json.code).toBe('BAD_ANSWER')
    expect(json.issues[0].path).toBe(path)
    expect((await client.get(id)).settlement).toBeUndefined()
    // The command id is free still.
    expect((await client.answer(id, 'SQLite', { commandId: 'c1' })).repeated).toBe(false)
  })

  test.each([
    ['neither answers nor text', { commandId: 'c1' }, 'answers'],
    ['both answers and text', { commandId: 'c1', text: 'SQLite', answers: [] }, 'answers'],
    ['no command id', { text: 'SQLite' }, 'commandId'],
    ['a command id with a space', { commandId: 'c 1', text: 'SQLite' }, 'commandId'],
    [
      'a surface with a control character',
      { commandId: 'c1', text: 'SQLite', surface: 'a\u001b[2K' },
      'surface',
    ],
    [
      'an answer that says by whom',
      { commandId: 'c1', answers: [{ id: 'db', selected: [], by: 'user' }] },
      'answers[0]',
    ],
  ])('with %s is a bad request', async (_, body, path) => {
    const { call, client, ask } = await serve()
    const id = await ask()
    const { status, json } = await call('POST', `/api/requests/${id}/answer`, body)
    expect(status).toBe(400)
    expect(json.issues[0].path).toBe(path)
    expect((await client.get(id)).settlement).toBeUndefined()
  })

  test('of what does not exist is refused', async () => {
    const { call } = await serve()
    const { status, json } = await call('POST', '/api/requests/none/answer', { commandId: 'c', text: 'x' })
    expect([status, json.code, json.id]).toEqual([404, 'UNKNOWN_REQUEST', 'none'])
  })
})

describe('answering by text', () => {
  test.each([
    ['2', { selected: ['SQLite'] }],
    ['postgres', { selected: ['Postgres'] }],
    ['POSTGRES.', { selected: ['Postgres'] }],
    ['the small one', { selected: [], custom: 'the small one' }],
  ])('reads %j', async (text, value) => {
    const { client, ask } = await serve()
    const { request } = await client.answer(await ask(), text)
    expect(request.settlement?.answer).toEqual({ answers: [{ id: 'db', ...value }] })
  })

  test('chooses several by number', async () => {
    const { client, ask } = await serve()
    const { request } = await client.answer(await ask([MANY]), '3, 1')
    expect(request.settlement?.answer).toEqual({ answers: [{ id: 'checks', selected: ['Lint', 'Tests'] }] })
  })

  test('of several questions is refused, saying what to send', async () => {
    const { call, client, ask } = await serve()
    const id = await ask([DB, MANY])
    const { status, json } = await call('POST', `/api/requests/${id}/answer`, { commandId: 'c', text: '2' })
    expect(status).toBe(422)
    expect(json.issues[0].message).toContain('send answers, one entry for each of "db", "checks"')
    expect((await client.get(id)).settlement).toBeUndefined()
  })

  test('that cannot be read tells of a settled request that it is settled', async () => {
    const { call, client, ask } = await serve()
    const id = await ask([DB, MANY])
    await client.decline(id)
    const { status, json } = await call('POST', `/api/requests/${id}/answer`, { commandId: 'c', text: '2' })
    expect([status, json.code, json.settlement.outcome]).toEqual([409, 'ALREADY_SETTLED', 'declined'])
  })
})

describe('answering without an id', () => {
  test('answers the only request that is pending', async () => {
    const { call, ask } = await serve()
    const id = await ask()
    const { status, json } = await call('POST', '/api/answer', { commandId: 'c1', text: '2' })
    expect(status).toBe(200)
    expect(json.request).toMatchObject({ id, settlement: { answer: answered('SQLite') } })
  })

  test('is refused while several are pending, and settles none', async () => {
    const { call, client, ask } = await serve()
    const ids = await Promise.all([ask(), ask(), ask()])
    const { status, json } = await call('POST', '/api/answer', { commandId: 'c1', text: '2' })
    expect(status).toBe(409)
    expect(json.code).toBe('AMBIGUOUS')
    expect(json.ids.toSorted()).toEqual(ids.toSorted())
    expect((await client.list()).requests).toHaveLength(3)
  })

  test('is refused while nothing is pending', async () => {
    const { call } = await serve()
    const { status, json } = await call('POST', '/api/answer', { commandId: 'c1', text: '2' })
    expect([status, json.code]).toEqual([404, 'NOTHING_PENDING'])
  })

  test('sent again does not answer what was asked since', async () => {
    const { call, client, ask } = await serve()
    const first = await ask()
    await call('POST', '/api/answer', { commandId: 'c1', text: '2' })
    const second = await ask()
    const { json } = await call('POST', '/api/answer', { commandId: 'c1', text: '2' })
    expect(json).toMatchObject({ repeated: true, request: { id: first } })
    expect((await client.get(second)).settlement).toBeUndefined()
  })

  test('leaves the answers of parallel asks with those who asked', async () => {
    const { client, ask, inbox } = await serve()
    const labels = ['Postgres', 'SQLite', 'Postgres']
    const ids = await Promise.all(labels.map(() => ask()))
    const waiting = ids.map(id => inbox.wait(id))
    await Promise.all([2, 0, 1].map(index => client.answer(ids[index]!, labels[index]!)))
    expect((await Promise.all(waiting)).map(({ settlement }) => settlement.answer)).toEqual(
      labels.map(answered),
    )
  })
})

describe('ending a request otherwise', () => {
  test.each([
    ['decline', { reason: 'not mine to say' }, { outcome: 'declined', reason: 'not mine to say' }],
    ['clarify', { text: 'which cluster?' }, { outcome: 'clarified', text: 'which cluster?' }],
    ['cancel', { reason: 'moot' }, { outcome: 'cancelled', reason: 'moot' }],
    ['interrupt', {}, { outcome: 'interrupted' }],
  ])('by %s is told apart from the others', async (how, body, settlement) => {
    const { call, ask } = await serve()
    const { status, json } = await call('POST', `/api/requests/${await ask()}/${how}`, {
      commandId: 'c',
      ...body,
    })
    expect(status).toBe(200)
    expect(json.request.settlement).toMatchObject(settlement)
  })

  test.each(['cancel', 'interrupt'] as const)('by %s keeps what was answered so far and fits', async how => {
    const { client, ask } = await serve()
    const id = await ask([DB, MANY, { id: 'name', question: 'Name?' }])
    const { request } = await client[how](id, {
      answers: [
        { id: 'db', selected: ['SQLite'] },
        { id: 'checks', selected: ['Nothing'] },
      ],
    })
    expect(request.settlement?.answer).toEqual(answered('SQLite'))
  })

  test('by a blank clarification is refused', async () => {
    const { call, ask } = await serve()
    const { status } = await call('POST', `/api/requests/${await ask()}/clarify`, {
      commandId: 'c',
      text: ' ',
    })
    expect(status).toBe(400)
  })

  test('by whoever asked tells a late answer that it was aborted', async () => {
    const { ctx, client } = await serve()
    const abort = new AbortController()
    const asking = ctx.userQuestions.ask({ questions: [DB], signal: abort.signal })
    while ((await client.list()).requests.length === 0);
    const [request] = (await client.list()).requests
    abort.abort()
    await expect(asking).rejects.toMatchObject({ code: 'ASK_ABORTED' })
    await expect(client.answer(request!.id, 'SQLite')).rejects.toMatchObject({
      code: 'ALREADY_SETTLED',
      settlement: { outcome: 'aborted' },
    })
  })
})

describe('beginning to answer', () => {
  test('takes the deadline off', async () => {
    const { client, ask } = await serve()
    const id = await ask([DB], { timeoutMs: 60_000 })
    expect(await client.engaged(id)).not.toHaveProperty('deadline')
    expect(await client.get(id)).not.toHaveProperty('deadline')
  })

  test('is refused for what is settled, saying by whom', async () => {
    const { client, ask } = await serve()
    const id = await ask()
    await client.answer(id, 'SQLite', { surface: 'phone' })
    await expect(client.engaged(id)).rejects.toMatchObject({
      code: 'ALREADY_SETTLED',
      settlement: { surface: 'phone' },
    })
  })
})
