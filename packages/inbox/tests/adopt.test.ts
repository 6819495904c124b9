import { expect, onTestFinished, test } from 'vitest'
import { Inbox, MemoryMedium, MemoryStore, type OpenResult } from '../src/index.ts'

/** A store that takes its time, so that others look at it in between. */
class SlowStore extends MemoryStore {
  override async open(...args: Parameters<MemoryStore['open']>): Promise<OpenResult> {
    const opened = await super.open(...args)
    await new Promise(resolve => setImmediate(resolve))
    return opened
  }
}

async function start(medium = new MemoryMedium()) {
  const inbox = new Inbox({ store: new SlowStore(medium) })
  onTestFinished(() => inbox.close())
  await inbox.start()
  return inbox
}

const opening = { kind: 'questions', payload: { questions: [] }, session: 's', key: 'k' }
const settlement = { outcome: 'declined', reason: 'no', commandId: 'c', settledAt: 1 } as const

test('what was settled elsewhere is never heard of, nor listed, as pending', async () => {
  const inbox = await start()
  const heard: (string | undefined)[] = []
  await inbox.follow({ entry: ({ request }) => void heard.push(request.settlement?.outcome), lost() {} })
  const [adopted, pending] = await Promise.all([
    inbox.adopt(opening, settlement),
    inbox.list({ state: 'pending' }),
    inbox.caughtUp(),
  ])
  await inbox.caughtUp()
  expect(adopted.settlement).toEqual(settlement)
  expect(pending.requests).toEqual([])
  expect(heard).toEqual(['declined', 'declined'])
  expect(await inbox.open(opening)).toMatchObject({ joined: true, request: { settlement } })
})

test('what is pending here under its key is settled so, and whoever waits for it is told', async () => {
  const inbox = await start()
  const { request } = await inbox.open(opening)
  const waiting = inbox.wait(request.id)
  await inbox.adopt(opening, settlement)
  expect((await waiting).settlement).toEqual(settlement)
})

test('what was settled here stays as it was', async () => {
  const inbox = await start()
  const { request } = await inbox.open(opening)
  await inbox.decide(request.id, { outcome: 'clarified', text: 'why?' }, { commandId: 'd', surface: 'web' })
  expect((await inbox.adopt(opening, settlement)).settlement.outcome).toBe('clarified')
})

test('what was asked otherwise under its key is refused', async () => {
  const inbox = await start()
  await inbox.open(opening)
  const other = { ...opening, payload: { questions: [1] } }
  await expect(inbox.adopt(other, settlement)).rejects.toMatchObject({ code: 'KEY_CONFLICT' })
  expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
})
