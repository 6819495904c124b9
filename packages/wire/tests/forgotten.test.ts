import { Inbox, MemoryMedium, MemoryStore, QUESTIONS, toQuestionsPayload } from '@handraise/inbox'
import { expect, onTestFinished, test } from 'vitest'
import { asking, calling, DATABASE, TEXT } from './agents.ts'
import { host, writeFile, type HostOptions, type Peer } from './wired.ts'

const SESSION = 'mine'

/** Hears of others only when it is told to, and cannot read requests while it is away. */
class SlowStore extends MemoryStore {
  isAway = false
  private kept: Array<() => void> | undefined

  override watch(wake: () => void): () => void {
    return super.watch(() => (this.kept === undefined ? wake() : void this.kept.push(wake)))
  }

  override get(id: string): ReturnType<MemoryStore['get']> {
    return this.isAway ? Promise.reject(new Error('the database is away')) : super.get(id)
  }

  keepNews(): void {
    this.kept = []
  }

  tellNews(): void {
    const wakes = this.kept ?? []
    this.kept = undefined
    for (const wake of wakes) wake()
  }
}

async function scene(options: HostOptions = {}) {
  const medium = new MemoryMedium()
  const store = new SlowStore(medium)
  const reported: unknown[] = []
  const hosted = await host({ store, report: error => void reported.push(error), ...options })
  const one = await hosted.peer().start()
  await one.call('session/start', { commandId: one.commandId(), sessionId: SESSION })
  const elsewhere = new Inbox({ store: new MemoryStore(medium) })
  await elsewhere.start()
  onTestFinished(() => elsewhere.close())
  /** Settles it where the host does not hear of it, and forgets all that is settled. */
  const settleAndForget = async (id: string): Promise<void> => {
    store.keepNews()
    await elsewhere.withdraw(id, 'nobody needs it')
    await elsewhere.store.prune(Number.MAX_SAFE_INTEGER)
  }
  const askElsewhere = async (): Promise<string> => {
    const { request } = await elsewhere.open({
      kind: QUESTIONS,
      payload: toQuestionsPayload([DATABASE]),
      session: SESSION,
      key: 'elsewhere',
    })
    await one.told('userInput/requested')
    return request.id
  }
  return { ...hosted, one, medium, store, reported, elsewhere, settleAndForget, askElsewhere }
}

const start = (peer: Peer) =>
  peer.call('turn/start', { sessionId: SESSION, commandId: peer.commandId(), input: TEXT })

const itemsEnded = (peer: Peer) =>
  peer.frames
    .filter(({ method }) => method === 'item/completed')
    .map(({ params }) => (params as { item: Record<string, unknown> }).item)
    .filter(({ kind }) => kind === 'toolCall')

const FORGOTTEN = {
  outcome: 'aborted',
  reason: 'forgotten',
  answers: [],
  clarification: null,
  decidedByCommandId: null,
  decidedAt: null,
}

test('a question that was settled and forgotten meanwhile ends, and its item with it', async () => {
  const { one, store, settleAndForget, askElsewhere } = await scene()
  const id = await askElsewhere()
  await settleAndForget(id)
  store.tellNews()
  expect(await one.told('userInput/settled')).toMatchObject({ userInputId: id, ...FORGOTTEN })
  await expect
    .poll(() => itemsEnded(one))
    .toMatchObject([{ status: 'cancelled', failureReason: 'forgotten' }])
  expect(await one.call('session/read', { sessionId: SESSION })).toMatchObject({ pendingRequests: [] })
})

test('nothing ends while the store cannot say what became of it', async () => {
  const { one, store, reported, settleAndForget, askElsewhere } = await scene()
  const id = await askElsewhere()
  await settleAndForget(id)
  store.isAway = true
  store.tellNews()
  await expect.poll(() => reported.length).toBeGreaterThan(0)
  expect(one.methodsTold()).not.toContain('userInput/settled')
  store.isAway = false
  expect(await one.told('userInput/settled')).toMatchObject({ userInputId: id, ...FORGOTTEN })
})

test('what still waits goes on waiting when the log was lost', async () => {
  const { one, store, ctx, elsewhere, settleAndForget, askElsewhere } = await scene()
  const id = await askElsewhere()
  const { request } = await elsewhere.open({ kind: 'other', payload: {}, session: 'another', key: 'other' })
  await settleAndForget(request.id)
  store.tellNews()
  await ctx.inbox.core.caughtUp()
  const other = await elsewhere.open({
    kind: QUESTIONS,
    payload: toQuestionsPayload([DATABASE]),
    session: SESSION,
    key: 'next',
  })
  await one.until(
    ({ method, params }) =>
      method === 'userInput/requested' &&
      (params as { userInputId: string }).userInputId === other.request.id,
  )
  expect(one.methodsTold()).not.toContain('userInput/settled')
  await elsewhere.withdraw(id, 'nobody needs it')
  expect(await one.told('userInput/settled')).toMatchObject({ userInputId: id, reason: 'nobody needs it' })
})

test('a session that is loaded again has ended what was forgotten while nobody held it', async () => {
  const { medium, close, settleAndForget, askElsewhere } = await scene()
  const id = await askElsewhere()
  await close()
  await settleAndForget(id)
  const { peer } = await host({ store: new MemoryStore(medium) })
  const two = await peer().start()
  await two.call('session/resume', { sessionId: SESSION, commandId: two.commandId() })
  expect(await two.call('session/read', { sessionId: SESSION })).toMatchObject({ pendingRequests: [] })
  const { events } = (await two.call('view/page', { sessionId: SESSION, limit: 1_000 })) as {
    events: Array<{ method: string; params: object }>
  }
  expect(events.find(({ method }) => method === 'userInput/settled')?.params).toMatchObject(FORGOTTEN)
})

test('a call that asked what was forgotten ends, and its question before it', async () => {
  const { one, store, settleAndForget } = await scene({ agent: asking(DATABASE) })
  await start(one)
  const { userInputId } = await one.told('userInput/requested')
  await settleAndForget(String(userInputId))
  store.tellNews()
  expect(await one.told('userInput/settled')).toMatchObject({ userInputId, ...FORGOTTEN })
  await one.told('turn/completed')
  expect(itemsEnded(one)).toHaveLength(1)
})

test('an approval that a call asked for and that was forgotten is not allowed', async () => {
  const { one, store, settleAndForget } = await scene({
    agent: calling(['write_file', { path: 'Cargo.toml' }]),
  })
  await start(one)
  const { approvalId } = await one.told('approval/requested')
  await settleAndForget(`${String(approvalId)}.0`)
  store.tellNews()
  expect(await one.told('approval/resolved')).toMatchObject({
    approvalId,
    decision: 'aborted',
    policyResult: 'deny',
    resolvedBy: 'policy',
  })
  await one.told('turn/completed')
  expect(one.methodsTold().filter(method => method === 'approval/resolved')).toHaveLength(1)
  expect(itemsEnded(one)).toHaveLength(1)
  expect(itemsEnded(one)[0]?.['visibleOutput']).not.toContain('updated')
})

test('an approval of another process that was forgotten is resolved, and its item ends', async () => {
  const { one, medium, store, settleAndForget } = await scene()
  const other = await host({ store: new MemoryStore(medium), report: () => {} })
  const stop = new AbortController()
  const asked = other.ctx.userApprovals.request({
    toolName: writeFile.name,
    subject: { kind: 'fileAccess', access: 'write', path: '/srv/proj/a' },
    session: SESSION,
    callId: 'afar',
    signal: stop.signal,
  })
  const { approvalId } = await one.told('approval/requested')
  await settleAndForget(`${String(approvalId)}.0`)
  store.tellNews()
  expect(await one.told('approval/resolved')).toMatchObject({ approvalId, decision: 'aborted' })
  await expect.poll(() => itemsEnded(one)).toMatchObject([{ status: 'rejected' }])
  stop.abort()
  await asked
})

test('an approval of a turn that goes on waits for its call, which asks again', async () => {
  const agent = calling(['write_file', { path: 'Cargo.toml' }])
  const { one, medium, close, settleAndForget } = await scene({ agent })
  await start(one)
  const { approvalId } = await one.told('approval/requested')
  await close()
  await settleAndForget(`${String(approvalId)}.0`)
  const { peer, ctx } = await host({ store: new MemoryStore(medium), agent })
  const two = await peer().start()
  await two.call('session/resume', { sessionId: SESSION, commandId: two.commandId() })
  const id = `${String(approvalId)}.0`
  await expect.poll(async () => (await ctx.inbox.core.store.get(id))?.id).toBe(id)
  expect(two.methodsTold()).not.toContain('approval/resolved')
  const asked = await two.told('approval/request')
  await two.call('approval/decide', {
    sessionId: SESSION,
    commandId: two.commandId(),
    approvalId,
    requirementId: asked['currentRequirementId'],
    choiceId: 'allow_once',
  })
  expect(await two.told('approval/resolved')).toMatchObject({ decision: 'approved', policyResult: 'allow' })
  await two.told('turn/completed')
  expect(itemsEnded(two)).toMatchObject([{ status: 'completed' }])
})
