import {
  Inbox,
  MemoryMedium,
  MemoryStore,
  showOn,
  type InboxSurface,
  type ListPage,
  type ListQuery,
  type LogPage,
} from '@handraise/inbox'
import { expect, onTestFinished, test } from 'vitest'
import { ManualClock, settled } from './host.ts'

/** Forgets the cursors from before, and whether it can be listed is for the test to say. */
class TroubledStore extends MemoryStore {
  isAway = false
  lists = 0
  private losses = 0
  private gate: Promise<void> | undefined

  lose(times = 1): void {
    this.losses = times
  }

  /** Lets no list be read to its end, until the returned function is called. */
  hold(): () => void {
    let release = (): void => {}
    this.gate = new Promise(resolve => (release = resolve))
    return release
  }

  override async since(cursor: string, limit?: number): Promise<LogPage> {
    if (this.losses === 0) return super.since(cursor, limit)
    this.losses -= 1
    return { lost: true }
  }

  override async list(query: ListQuery): Promise<ListPage> {
    this.lists += 1
    if (this.isAway) throw new Error('the database is away')
    const page = await super.list(query)
    await this.gate
    return page
  }
}

async function scene() {
  const store = new TroubledStore(new MemoryMedium())
  const clock = new ManualClock()
  const reported: string[] = []
  const report = (error: unknown): void => void reported.push((error as Error).message)
  const inbox = new Inbox({ store, clock, report })
  await inbox.start()
  onTestFinished(() => inbox.close())
  const shown: string[] = []
  const surface: InboxSurface = {
    name: 'screen',
    viewers: () => 1,
    opened: ({ id }) => void shown.push(`+${id}`),
    settled: ({ id }) => void shown.push(`-${id}`),
  }
  const open = (id: string) =>
    inbox.open({ id, kind: 'questions', payload: { questions: [{ id: 'q', question: 'Which?' }] } })
  const decline = (id: string) => inbox.decide(id, { outcome: 'declined' }, { commandId: id, surface: 'web' })
  /** Has the log found to be lost. */
  const lose = async (): Promise<void> => {
    store.lose()
    await inbox.caughtUp()
    await settled()
  }
  return { store, clock, inbox, report, reported, shown, surface, open, decline, lose }
}

test('a surface tries again until it could list anew, and is told everything once', async () => {
  const { store, clock, inbox, report, reported, shown, surface, open, decline, lose } = await scene()
  await open('first')
  const end = await showOn(surface, inbox, report)
  store.isAway = true
  await lose()
  await clock.advance(250)
  await open('second')
  expect(shown).toEqual(['+first'])
  expect(reported).toEqual(['the database is away', 'the database is away'])
  store.isAway = false
  await clock.advance(250)
  expect(shown).toEqual(['+first', '+second'])
  await decline('first')
  await open('third')
  expect(shown).toEqual(['+first', '+second', '-first', '+third'])
  end()
  await open('fourth')
  expect(shown).toHaveLength(4)
})

test('a surface that is ended while the store is away tries no more', async () => {
  const { store, clock, inbox, report, shown, surface, open, lose } = await scene()
  const end = await showOn(surface, inbox, report)
  store.isAway = true
  await lose()
  end()
  store.isAway = false
  const { lists } = store
  await open('first')
  await clock.advance(1_000)
  expect(store.lists).toBe(lists)
  expect(shown).toEqual([])
})

test('a surface that is ended while it lists anew is shown nothing more', async () => {
  const { store, inbox, report, shown, surface, open, lose } = await scene()
  const end = await showOn(surface, inbox, report)
  await lose()
  const release = store.hold()
  await lose()
  await open('first')
  end()
  release()
  await settled()
  await open('second')
  expect(shown).toEqual([])
})

test('a surface that loses the log again while it lists anew follows once', async () => {
  const { store, inbox, report, shown, surface, open, lose } = await scene()
  await showOn(surface, inbox, report)
  const release = store.hold()
  await lose()
  await open('first')
  await lose()
  // Also from the cursor that it read before its list.
  store.lose()
  release()
  await settled()
  await open('second')
  expect(shown).toEqual(['+first', '+second'])
})

test('whoever follows goes on after the log was lost, at once or later, until it is ended', async () => {
  const { store, inbox, reported, open, lose } = await scene()
  const heard: string[] = []
  const follower = (name: string) => ({
    entry: ({ request: { id } }: { readonly request: { readonly id: string } }) =>
      void heard.push(`${name}: ${id}`),
    lost() {
      heard.push(`${name}: lost`)
      throw new Error(`${name} fails`)
    },
  })
  const cursor = await store.end()
  await open('missed')
  store.lose()
  const endEarly = await inbox.follow(follower('early'), cursor)
  await inbox.follow(follower('late'))
  await open('first')
  await lose()
  await open('second')
  endEarly()
  await open('third')
  expect(heard).toEqual([
    'early: lost',
    'early: first',
    'late: first',
    'early: lost',
    'late: lost',
    'early: second',
    'late: second',
    'late: third',
  ])
  expect(reported).toEqual(['early fails', 'early fails', 'late fails'])
})
