import { MemoryMedium, MemoryStore, toQuestionsPayload, type RequestKind } from '@handraise/inbox'
import { describe, expect, test } from 'vitest'
import { answered, DB, serve } from './served.ts'

const LUNCH: RequestKind = {
  name: 'lunch',
  check: (_, answer) => ({ ok: true, answer: answer as never }),
  asQuestions: payload =>
    typeof payload === 'object' && payload !== null && 'dish' in payload
      ? [
          {
            id: 'lunch',
            question: `Is it ${JSON.stringify(payload.dish)}?`,
            options: [{ label: 'Yes' }, { label: 'No' }],
          },
        ]
      : [],
  fromAnswers: (_, answers) => ({ eaten: answers[0]?.selected[0] === 'Yes' }),
}

describe('opening a request', () => {
  test('gives it an id and its questions, and tells when it was opened', async () => {
    const { call } = await serve()
    const before = Date.now()
    const { status, json } = await call('POST', '/api/requests', {
      questions: [DB],
      session: 's1',
      key: 'k1',
    })
    expect(status).toBe(201)
    expect(json).toEqual({
      joined: false,
      request: {
        id: expect.any(String) as string,
        kind: 'questions',
        key: 'k1',
        session: 's1',
        openedAt: expect.any(Number) as number,
        payload: { questions: [DB] },
        questions: [DB],
      },
    })
    expect(json.request.openedAt).toBeGreaterThanOrEqual(before)
    expect(Number.isInteger(json.request.openedAt)).toBe(true)
  })

  test('with a known key joins it, and refuses other questions under that key', async () => {
    const { call } = await serve()
    const body = { questions: [DB], session: 's1', key: 'k1' }
    const first = await call('POST', '/api/requests', body)
    const again = await call('POST', '/api/requests', body)
    expect(again.status).toBe(200)
    expect(again.json).toEqual({ joined: true, request: first.json.request })
    const other = await call('POST', '/api/requests', {
      ...body,
      questions: [{ ...DB, question: 'Which one?' }],
    })
    expect(other.status).toBe(409)
    expect(other.json).toMatchObject({ code: 'KEY_CONFLICT', session: 's1', key: 'k1' })
  })

  test('joins the same request whether the questions are sent as such or as a payload', async () => {
    const { call } = await serve()
    const first = await call('POST', '/api/requests', { questions: [DB], key: 'k' })
    const again = await call('POST', '/api/requests', {
      kind: 'questions',
      payload: { questions: [DB] },
      key: 'k',
    })
    expect(again.json).toEqual({ joined: true, request: first.json.request })
  })

  test('with a known key gives the answer recorded while the agent was away', async () => {
    const { client, ask } = await serve()
    const id = await ask([DB], { key: 'k' })
    await client.answer(id, 'SQLite')
    const { request, joined } = await client.open({ questions: [DB] as never, key: 'k' })
    expect(joined).toBe(true)
    expect(request.settlement?.answer).toEqual(answered('SQLite'))
  })

  test('with a timeout tells the deadline that every client sees', async () => {
    const { client, ask } = await serve()
    const before = Date.now()
    const id = await ask([DB], { timeoutMs: 60_000 })
    const { deadline } = await client.get(id)
    expect(deadline).toBeGreaterThanOrEqual(before + 60_000)
    expect(deadline).toBeLessThanOrEqual(Date.now() + 60_000)
  })

  test.each([
    ['a blank question', { questions: [{ id: 'a', question: ' ' }] }, ['questions[0].question']],
    ['no questions', { questions: [] }, ['questions']],
    ['nothing', {}, ['questions']],
    ['questions as text', { questions: JSON.stringify([DB]) }, ['questions']],
    ['an unknown member', { questions: [DB], session: 's', color: 'red' }, ['']],
    ['a question with an unknown member', { questions: [{ ...DB, hint: '' }] }, ['questions[0]']],
    [
      'two faults',
      {
        questions: [
          { id: 'a', question: '' },
          { ...DB, options: [{ label: 7 }] },
        ],
      },
      ['questions[1].options[0].label'],
    ],
    [
      'labels nobody can tell apart',
      { questions: [{ ...DB, options: [{ label: 'Yes' }, { label: 'yes ' }] }] },
      ['questions[0].options[1].label'],
    ],
    ['questions beside a payload', { questions: [DB], kind: 'questions', payload: {} }, ['']],
    ['a kind without a payload', { kind: 'questions' }, ['payload']],
    [
      'a payload that asks nothing',
      { kind: 'questions', payload: { kind: 'x' } },
      ['payload.questions', 'payload'],
    ],
    [
      'a payload with a blank question',
      { kind: 'questions', payload: { questions: [{ id: 'a', question: '' }] } },
      ['payload.questions[0].question'],
    ],
    ['a timeout of nothing', { questions: [DB], timeoutMs: 0 }, ['timeoutMs']],
    ['a timeout that is no number', { questions: [DB], timeoutMs: '60000' }, ['timeoutMs']],
    [
      'an intent that approves what is not offered',
      { questions: [{ ...DB, detail: 'plan', intent: { kind: 'plan-review', approve: 'Go' } }] },
      ['questions[0].intent.approve'],
    ],
    [
      'a review without a plan',
      { questions: [{ ...DB, intent: { kind: 'plan-review', approve: 'SQLite' } }] },
      ['questions[0].detail'],
    ],
  ])('with %s is refused by path, and opens nothing', async (_, body, paths) => {
    const { call, client } = await serve()
    const { status, json } = await call('POST', '/api/requests', body)
    expect(status).toBe(400)
    expect(json.code).toBe('BAD_REQUEST')
    expect(json.issues.map(({ path }: { path: string }) => path)).toEqual(paths)
    expect((await client.list()).requests).toEqual([])
  })

  test('of a kind that nobody here knows is refused', async () => {
    const { call, client } = await serve()
    const { status, json } = await call('POST', '/api/requests', { kind: 'lunch', payload: { dish: 'soup' } })
    expect(status).toBe(422)
    expect(json).toMatchObject({ code: 'UNKNOWN_KIND', kind: 'lunch' })
    expect((await client.list()).requests).toEqual([])
  })

  test('of a registered kind shows its questions, and takes the answers back in its words', async () => {
    const { call, client, inbox } = await serve()
    inbox.registerKind(LUNCH)
    const { json } = await call('POST', '/api/requests', { kind: 'lunch', payload: { dish: 'soup' } })
    expect(json.request).toMatchObject({ kind: 'lunch', payload: { dish: 'soup' } })
    expect(json.request.questions[0].question).toBe('Is it "soup"?')
    const { request } = await client.answer(json.request.id, 'yes')
    expect(request.settlement?.answer).toEqual({ eaten: true })
    const bad = await call('POST', '/api/requests', { kind: 'lunch', payload: { no: 'dish' } })
    expect(bad.json.issues[0].path).toBe('payload')
  })
})

describe('listing requests', () => {
  test('pages through what is pending, the oldest first, each once', async () => {
    const { call, ask } = await serve()
    const ids: string[] = []
    for (let count = 0; count < 7; count += 1) ids.push(await ask())
    const seen: string[] = []
    for (let after = ''; ;) {
      const { json } = await call('GET', `/api/requests?limit=3${after}`)
      seen.push(...json.requests.map(({ id }: { id: string }) => id))
      expect(json.cursor).toEqual(expect.any(String))
      if (json.next === undefined) break
      after = `&after=${json.next}`
    }
    expect(seen).toEqual(ids)
  })

  test('tells settled ones apart, the latest first, and of one session when asked', async () => {
    const { client, ask } = await serve()
    const [a, b, c] = [await ask([DB], { session: 's1' }), await ask([DB], { session: 's2' }), await ask()]
    await client.answer(a, 'SQLite')
    await client.decline(b, { reason: 'not now' })
    const settled = await client.list({ state: 'settled' })
    expect(settled.requests.map(({ id, settlement }) => [id, settlement?.outcome])).toEqual([
      [b, 'declined'],
      [a, 'answered'],
    ])
    expect((await client.list()).requests.map(({ id }) => id)).toEqual([c])
    expect((await client.list({ state: 'settled', session: 's1' })).requests.map(({ id }) => id)).toEqual([a])
  })

  test('shows a request of an unknown kind without questions, and refuses to answer it', async () => {
    const { inbox, client, call } = await serve()
    await inbox.open({ kind: 'lunch', payload: { dish: 'soup' } })
    const [request] = (await client.list()).requests
    expect(request).toMatchObject({ kind: 'lunch', payload: { dish: 'soup' } })
    expect(request).not.toHaveProperty('questions')
    const { status, json } = await call('POST', `/api/requests/${request!.id}/answer`, {
      commandId: 'c',
      answers: [],
    })
    expect(status).toBe(422)
    expect(json.code).toBe('UNKNOWN_KIND')
  })

  test('shows a request whose kind throws without questions, and reports it', async () => {
    const { inbox, client, reported } = await serve()
    const fault = new Error('no soup')
    inbox.registerKind({
      ...LUNCH,
      asQuestions: () => {
        throw fault
      },
    })
    await inbox.open({ kind: 'lunch', payload: null })
    expect((await client.list()).requests[0]).not.toHaveProperty('questions')
    expect(reported).toEqual([fault])
  })

  test.each(['limit=0', 'limit=1001', 'limit=many', 'state=open', 'after=', 'pages=2'])(
    'by a query of %s is refused',
    async query => {
      const { call } = await serve()
      const { status, json } = await call('GET', `/api/requests?${query}`)
      expect(status).toBe(400)
      expect(json.issues).toHaveLength(1)
    },
  )

  test('finds after a restart what was pending, under the same id, and settles it once', async () => {
    const medium = new MemoryMedium()
    const first = await serve({ inbox: { store: new MemoryStore(medium) } })
    const id = await first.ask([DB], { key: 'k' })
    const before = await first.client.get(id)
    await first.server.close()
    await first.fiber.dispose()
    const second = await serve({ inbox: { store: new MemoryStore(medium) } })
    expect((await second.client.list()).requests).toEqual([before])
    await second.client.answer(id, 'SQLite')
    expect((await second.client.list()).requests).toEqual([])
    expect((await second.client.list({ state: 'settled' })).requests.map(request => request.id)).toEqual([id])
  })

  test('finds after a restart that what nobody waits for any more is aborted', async () => {
    const medium = new MemoryMedium()
    const first = await serve({ inbox: { store: new MemoryStore(medium) } })
    const id = await first.ask()
    await first.fiber.dispose()
    const second = await serve({ inbox: { store: new MemoryStore(medium) } })
    expect((await second.client.get(id)).settlement).toMatchObject({ outcome: 'aborted', reason: 'orphaned' })
    await expect(second.client.answer(id, 'SQLite')).rejects.toMatchObject({ code: 'ALREADY_SETTLED' })
  })
})

describe('waiting for a request', () => {
  test('ends when it is settled', async () => {
    const { call, client, ask } = await serve()
    const id = await ask()
    const waiting = call('GET', `/api/requests/${id}/wait`)
    await client.answer(id, 'SQLite')
    const { status, json } = await waiting
    expect(status).toBe(200)
    expect(json).toMatchObject({ pending: false, request: { id, settlement: { outcome: 'answered' } } })
  })

  test('ends at once when it was settled before', async () => {
    const { client, ask } = await serve()
    const id = await ask()
    await client.decline(id)
    expect((await client.wait(id)).settlement.outcome).toBe('declined')
  })

  test('ends with pending when the time is up', async () => {
    const { call, ask, inbox } = await serve()
    const id = await ask()
    const { status, json } = await call('GET', `/api/requests/${id}/wait?timeoutMs=20`)
    expect(status).toBe(200)
    expect(json).toEqual({ pending: true })
    expect(inbox.waiting(id)).toBe(0)
  })

  test('is refused for longer than half a minute, and for what does not exist', async () => {
    const { call, ask } = await serve()
    expect((await call('GET', `/api/requests/${await ask()}/wait?timeoutMs=30001`)).status).toBe(400)
    expect((await call('GET', '/api/requests/none/wait')).json.code).toBe('UNKNOWN_REQUEST')
  })

  test('is refused beyond the number of waits that are taken', async () => {
    const { call, ask, inbox, client } = await serve({ maxStreams: 1 })
    const id = await ask()
    const waiting = call('GET', `/api/requests/${id}/wait`)
    while (inbox.waiting(id) === 0) await new Promise(resolve => setTimeout(resolve, 5))
    const { status, json, headers } = await call('GET', `/api/requests/${id}/wait`)
    expect([status, json.code, headers['retry-after']]).toEqual([503, 'TOO_MANY_STREAMS', '5'])
    await client.answer(id, 'SQLite')
    expect((await waiting).json.pending).toBe(false)
  })

  test('takes nothing with it when the client leaves', async () => {
    const { inbox, client, ask } = await serve()
    const id = await ask()
    const gone = new AbortController()
    const waiting = client.wait(id, { signal: gone.signal })
    while (inbox.waiting(id) === 0) await new Promise(resolve => setTimeout(resolve, 5))
    gone.abort()
    await expect(waiting).rejects.toThrow('abort')
    while (inbox.waiting(id) > 0) await new Promise(resolve => setTimeout(resolve, 5))
    expect((await client.get(id)).settlement).toBeUndefined()
  })
})

test('a request keeps every text as it was sent', async () => {
  const { client } = await serve()
  const question = {
    id: '__proto__',
    question: '選択肢 \u001b[2K "quoted" \u2028 🚀',
    options: [{ label: 'Yes, always' }, { label: 'safe\u202etxt.exe' }],
  }
  const { request } = await client.open({ questions: [question] })
  expect((await client.get(request.id)).questions).toEqual([question])
  expect(request.payload).toEqual(toQuestionsPayload([question]))
  const receipt = await client.answer(request.id, [{ id: '__proto__', selected: ['Yes, always'] }])
  expect(receipt.request.settlement?.answer).toEqual({
    answers: [{ id: '__proto__', selected: ['Yes, always'] }],
  })
})
