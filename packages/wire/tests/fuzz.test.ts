import type { InboxRequest, InboxStore } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SessionAgent } from '../src/index.ts'
import type { BareClient, Frame } from './fixtures/bare-client.ts'
import { startSession } from './fixtures/session-commands.ts'
import { connect, openStack, type Stack } from './fixtures/stack.ts'
import { wildFrame } from './fixtures/wild-frames.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { serveWebSockets } from './fixtures/web-sockets.ts'

const SEED = Number(process.env['HANDRAISE_WIRE_SEED'] ?? 20_260_101)
const RUNS = Number(process.env['HANDRAISE_WIRE_RUNS'] ?? 100)
/** Small, so that longer ones cost nothing. */
const LIMIT_BYTES = 64 * 1024

const FRAMES = { minLength: 1, maxLength: 60, size: 'max' } as const

allowNothingUnhandled()

/** Asks two things at once, and waits. */
const agent: SessionAgent = {
  async run(turn) {
    const { input, turnId } = turn
    if (input[0]?.text !== 'ask') return
    const questions = [
      { id: 'db', question: 'Which store?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] },
      { id: 'parts', question: 'Which?', multi_select: true, options: [{ label: 'api' }, { label: 'page' }] },
    ]
    await Promise.all([
      turn.callTool({ callId: `${turnId}/1`, name: 'ask_user_question', arguments: { questions } }),
      turn.callTool({ callId: `${turnId}/2`, name: 'write_file', arguments: { path: 'a.txt' } }),
    ])
  },
}

test('whatever a client sends, it is answered once, and nothing settles by accident', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(wildFrame(), FRAMES), frames => withstands(frames, inMemory)),
    { numRuns: RUNS, seed: SEED },
  )
})

test('the same over a WebSocket, and a store on disk', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(wildFrame(), FRAMES), async frames =>
      withstands(frames, overWebSocket, await openSqliteStore({ file: ':memory:' })),
    ),
    { numRuns: Math.ceil(RUNS / 8), seed: SEED + 1 },
  )
})

/** Puts a client before a stack, on whatever carries frames. */
type Carry = (stack: Stack) => Promise<{ readonly client: BareClient; stop(): Promise<unknown> }>

async function inMemory(stack: Stack): ReturnType<Carry> {
  const client = connect(stack, { limitBytes: LIMIT_BYTES })
  return { client, stop: () => client.served }
}

async function overWebSocket(stack: Stack): ReturnType<Carry> {
  const sockets = await serveWebSockets(stack, { limitBytes: LIMIT_BYTES })
  const { client } = await sockets.connect()
  return { client, stop: () => sockets.stop() }
}

/** What the words of a frame stand for. */
type Known = Readonly<Record<'session' | 'other' | 'question' | 'approval' | 'cursor' | 'past', string>>

async function withstands(wild: readonly string[], carry: Carry, store?: InboxStore): Promise<void> {
  const stack = await openStack({ agent, store, limits: { frameBytes: LIMIT_BYTES } })
  const { client, stop } = await carry(stack)
  try {
    await client.start()
    const known = await askTwoThings(client)
    const sent = wild.map(frame => fill(frame, known))
    const from = client.frames.length
    for (const text of sent) client.sendText(text)
    const replies = sent.flatMap(text => replyTo(text) ?? [])
    await allReplies(client, from, replies)
    // Whatever else would be sent by mistake is sent before the answer to this.
    const view = await client.call('view/page', { sessionId: known.session, limit: 1_000 })
    expect(repliesOf(client, from).toSorted()).toEqual([...replies, '"r5"'].toSorted())
    await expectModel(stack, client, known, sent, view['events'] as Frame[])
  } finally {
    client.close()
    await stop()
    await stack.close()
  }
  expect(client.faults).toEqual([])
  expect(stack.reported).toEqual([])
}

async function askTwoThings(client: BareClient): Promise<Known> {
  const [other, session] = [await startSession(client), await startSession(client)]
  await client.command('turn/start', { sessionId: session, input: [{ type: 'text', text: 'ask' }] })
  const { userInputId } = await client.told('userInput/request')
  const { approvalId, viewCursor } = await client.told('approval/request')
  const past = `v:${session}:999`
  return {
    session,
    other,
    question: String(userInputId),
    approval: String(approvalId),
    cursor: String(viewCursor),
    past,
  }
}

const DEEP = `${'['.repeat(5_000)}${']'.repeat(5_000)}`

function fill(frame: string, known: Known): string {
  let text = frame.replaceAll('"$deep"', DEEP).replaceAll('$deep', DEEP)
  text = text.replaceAll('$request', '{"jsonrpc":"2.0","id":1,"method":"session/read"}')
  for (const [word, value] of Object.entries(known)) text = text.replaceAll(`$${word}`, value)
  return text
    .replaceAll('$nul', 'a\\u0000b')
    .replaceAll('$half', 'a\\ud800b')
    .replaceAll('$long', 'x'.repeat(5_000))
    .replaceAll('$huge', 'x'.repeat(LIMIT_BYTES))
    .replaceAll('$proto', '__proto__')
}

/** The id under which a frame is to be answered, as JSON; undefined for one that is not. */
function replyTo(text: string): string | undefined {
  if (Buffer.byteLength(text) > LIMIT_BYTES)
    return /^\{"jsonrpc":"2\.0","id":(\d+),/u.exec(text)?.[1] ?? 'null'
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch {
    return 'null'
  }
  if (!isMembers(frame)) return 'null'
  const { jsonrpc, id, method, params } = { ...frame }
  const usable = typeof id === 'string' || Number.isSafeInteger(id)
  const named = usable ? JSON.stringify(id) : 'null'
  const isFrame =
    jsonrpc === '2.0' &&
    (id === undefined || id === null || usable) &&
    (method === undefined || typeof method === 'string') &&
    (params === undefined || isMembers(params))
  if (!isFrame) return named
  if (method === undefined) return 'result' in frame || 'error' in frame ? undefined : named
  return id === undefined ? undefined : named
}

function repliesOf(client: BareClient, from: number): string[] {
  return client.frames.slice(from).flatMap(frame => ('method' in frame ? [] : [JSON.stringify(frame['id'])]))
}

async function allReplies(client: BareClient, from: number, replies: readonly string[]): Promise<void> {
  let enough: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    enough = setTimeout(() => {
      const missing = [...replies]
      for (const id of repliesOf(client, from))
        if (missing.includes(id)) missing.splice(missing.indexOf(id), 1)
      reject(new Error(`never answered: ${missing.join(', ')}`))
    }, 5_000)
  })
  const all = client.until(() => repliesOf(client, from).length >= replies.length, Math.max(0, from - 1))
  await Promise.race([replies.length === 0 ? undefined : all, tooLate])
  clearTimeout(enough)
}

/** What waits is settled only as a command said that was sent, and every ack that says so is true. */
async function expectModel(
  { inbox }: Stack,
  client: BareClient,
  known: Known,
  sent: readonly string[],
  view: readonly Frame[],
): Promise<void> {
  const requests = sent.flatMap(requestIn)
  const kept = [await inbox.get(known.question), await inbox.get(`${known.approval}.0`)]
  const interrupted = kept.some(({ settlement }) => settlement?.outcome === 'interrupted')
  const stopped = interrupted || requests.some(({ method }) => /^turn\/(?:interrupt|cancel)$/u.test(method))
  for (const request of kept) {
    const { settlement } = request
    const accepted = client.frames
      .map(({ result }) => (result ?? {}) as Frame)
      .filter(
        ({ status, userInputId, approvalId }) =>
          status === 'accepted' && (userInputId ?? approvalId) !== undefined,
      )
      .filter(({ userInputId }) => (userInputId === undefined) === (request.kind === 'approval'))
    for (const ack of accepted) expect(settlement?.commandId).toBe(ack['commandId'])
    if (settlement === undefined) continue
    if (settlement.surface === undefined) {
      expect({ outcome: settlement.outcome, stopped }).toEqual({ outcome: 'aborted', stopped: true })
      continue
    }
    const { outcome, answer, reason, text } = settlement
    const saying = requests
      .filter(({ params }) => params['commandId'] === settlement.commandId)
      .flatMap(({ method, params }) => settlementBy(method, params, request, known) ?? [])
    expect(saying).toContainEqual(withoutAbsent({ outcome, answer, reason, text }))
    expect(accepted.length).toBeGreaterThan(0)
  }
  for (const [method, member] of [
    ['userInput/settled', 'userInputId'],
    ['approval/resolved', 'approvalId'],
  ] as const) {
    const ids = view
      .filter(event => event['method'] === method)
      .map(({ params }) => (params as Frame)[member])
    expect(new Set(ids).size).toBe(ids.length)
  }
}

function requestIn(text: string): Array<{ method: string; params: Frame }> {
  if (replyTo(text) === undefined || Buffer.byteLength(text) > LIMIT_BYTES) return []
  try {
    const frame: unknown = JSON.parse(text)
    if (!isMembers(frame) || typeof frame['method'] !== 'string' || !isMembers(frame['params'])) return []
    return [{ method: frame['method'], params: frame['params'] }]
  } catch {
    return []
  }
}

/** How a command of the rules settles what waits; undefined where it does not. */
function settlementBy(
  method: string,
  params: Frame,
  request: InboxRequest,
  known: Known,
): object | undefined {
  if (params['sessionId'] !== known.session) return undefined
  if (request.kind === 'approval') {
    const requirement = { approvalId: known.approval, sourceIndex: 0 }
    if (method !== 'approval/decide' || params['approvalId'] !== known.approval) return undefined
    if (!isSubset(requirement, params['requirementId'])) return undefined
    const { choiceId, feedback } = params
    return { outcome: 'answered', answer: withoutAbsent({ choiceId, feedback: feedback ?? undefined }) }
  }
  if (params['userInputId'] !== known.question) return undefined
  const answer = answersBy(params['answers'])
  switch (method) {
    case 'userInput/answer':
      return answer === undefined || 'attachments' in params ? undefined : { outcome: 'answered', answer }
    case 'userInput/cancel':
      return withoutAbsent({ outcome: 'cancelled', reason: params['reason'] })
    case 'userInput/clarify':
      return { outcome: 'clarified', text: (params['clarification'] as Frame | undefined)?.['content'] }
    case 'userInput/interrupt':
      return { outcome: 'interrupted', answer: answer ?? { answers: [] } }
    default:
      return undefined
  }
}

function answersBy(given: unknown): object | undefined {
  if (!Array.isArray(given) || given.length !== 2) return undefined
  const answers = (given as Frame[]).map(
    ({ questionId: id, selectedLabel, selectedLabels, freeText, note }) =>
      withoutAbsent({
        id,
        selected: selectedLabels ?? (selectedLabel === undefined ? [] : [selectedLabel]),
        custom: freeText,
        note,
      }),
  )
  return { answers }
}

function isSubset(wanted: Frame, given: unknown): boolean {
  return isMembers(given) && Object.entries(wanted).every(([name, value]) => given[name] === value)
}

function withoutAbsent(members: Frame): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

function isMembers(value: unknown): value is Frame {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
