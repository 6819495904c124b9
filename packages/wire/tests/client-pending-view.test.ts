import { describe, expect, onTestFinished, test } from 'vitest'
import { pendingView, type PendingView } from '../src/client/pending-view.ts'
import { connected, settled, type Connected, type Frame } from './client-peer.ts'
import {
  approval,
  approvalResolved,
  approvalUpdated,
  cursor,
  SESSION,
  userInput,
  userInputSettled,
} from './client-prompts.ts'

interface Viewed extends Connected {
  readonly view: PendingView
  /** What was pending after each change, by id. */
  readonly drawn: string[][]
}

async function viewed(): Promise<Viewed> {
  const connection = await connected({ onRequest: () => {} })
  const view = pendingView(connection.client, SESSION)
  const drawn: string[][] = []
  view.subscribe(() => void drawn.push(idsOf(view)))
  onTestFinished(() => view.close())
  return { ...connection, view, drawn }
}

function idsOf({ approvals, userInputs }: PendingView): string[] {
  return [
    ...approvals.map(
      ({ approvalId, currentRequirementId }) => `${approvalId}@${currentRequirementId.sourceIndex}`,
    ),
    ...userInputs.map(({ userInputId }) => userInputId),
  ]
}

const element = (method: string, params: object): object => ({ method, params })
const gap = (after: number, next: number): object => ({
  sessionId: SESSION,
  after: cursor(after),
  next: cursor(next),
})
/** An event that says nothing of prompts. */
const other = (n: number): object => ({ ...userInput('u-0', n), turnId: `turn-${n}` })

describe('a view of what is pending', () => {
  test('follows the events of its session, and tells each change once', async () => {
    const { host, view, drawn } = await viewed()
    host.tell('approval/requested', approval('a-1', 1))
    host.send({ id: 1, method: 'approval/request', params: approval('a-1', 1) })
    await host.next()
    host.tell('userInput/requested', { ...userInput('u-9', 2), sessionId: 'another' })
    host.tell('userInput/requested', userInput('u-1', 2))
    host.tell('approval/updated', approvalUpdated('a-1', 3, 1))
    host.tell('approval/resolved', approvalResolved('a-1', 4))
    await settled()
    expect(drawn).toEqual([['a-1@0'], ['a-1@0', 'u-1'], ['a-1@1', 'u-1'], ['u-1']])
    expect(view.approvals).toEqual([])
    expect(view.userInputs).toEqual([userInput('u-1', 2)])
    expect(view.settlementOf('a-1')?.params).toEqual(approvalResolved('a-1', 4))
    expect(view.settlementOf('u-1')).toBeUndefined()
    expect(view.isCatchingUp).toBe(false)
  })

  test('hears what is asked again without an event, whoever answers it', async () => {
    const { client, host, view } = await viewed()
    client.onRequest(() => {
      throw new Error('no window')
    })
    host.send({ id: 18, method: 'userInput/request', params: userInput('u-1', 2) })
    expect(await host.next()).toMatchObject({ id: 18, error: { code: -32_603 } })
    expect(idsOf(view)).toEqual(['u-1'])
  })

  test('starts from what the host lists', async () => {
    const { host, view, drawn } = await viewed()
    const loading = view.load()
    const listing = await host.expect('approval/listPending')
    expect(listing.params).toEqual({ sessionId: SESSION })
    expect(view.isCatchingUp).toBe(true)
    host.answer(listing, { approvals: [approval('a-1', 1, 1)], userInputs: [userInput('u-1', 2)] })
    await loading
    expect(idsOf(view)).toEqual(['a-1@1', 'u-1'])
    expect(drawn).toEqual([['a-1@1', 'u-1']])
  })

  test('holds what happens while it loads, and tells only what comes of it', async () => {
    const { host, view, drawn } = await viewed()
    const loading = view.load()
    const listing = await host.next()
    host.tell('approval/updated', approvalUpdated('a-1', 2, 1))
    host.tell('approval/updated', approvalUpdated('a-1', 3, 2))
    await settled()
    host.answer(listing, { approvals: [approval('a-1', 1, 2), approval('a-2', 4)], userInputs: [] })
    host.tell('approval/resolved', approvalResolved('a-2', 5))
    host.tell('approval/updated', approvalUpdated('a-1', 6, 3))
    await loading
    await settled()
    expect(drawn.at(0)).not.toContain('a-1@1')
    expect(drawn.at(-1)).toEqual(['a-1@3'])
    expect(view.settlementOf('a-2')).toBeDefined()
  })

  test('drops what the host does not list any more', async () => {
    const { host, view } = await viewed()
    host.tell('approval/requested', approval('a-1', 1))
    await settled()
    const loading = view.load()
    host.answer(await host.next(), { approvals: [], userInputs: [] })
    await loading
    expect(idsOf(view)).toEqual([])
  })

  test('changes nothing where the list is refused', async () => {
    const { host, view, errors } = await viewed()
    host.tell('approval/requested', approval('a-1', 1))
    await settled()
    const loading = view.load().catch((error: unknown) => error)
    host.refuse(await host.next(), -32_020, 'sessionNotFound')
    expect(await loading).toMatchObject({ kind: 'sessionNotFound' })
    expect(idsOf(view)).toEqual(['a-1@0'])
    expect(errors).toEqual([])
    host.tell('approval/resolved', approvalResolved('a-1', 2))
    await settled()
    expect(idsOf(view)).toEqual([])
  })

  test('is not harmed by a listener that throws, and not heard by one that left', async () => {
    const { host, view, drawn, errors } = await viewed()
    view.subscribe(() => {
      throw new Error('cannot draw')
    })
    const stop = view.subscribe(() => expect.unreachable('it left'))
    stop()
    host.tell('approval/requested', approval('a-1', 1))
    await settled()
    expect(drawn).toEqual([['a-1@0']])
    expect(errors).toMatchObject([{ message: 'cannot draw' }])
  })

  test('keeps what it saw when it is closed, and hears no more', async () => {
    const { host, view } = await viewed()
    host.tell('approval/requested', approval('a-1', 1))
    await settled()
    const loading = view.load()
    const queued = view.load()
    await host.next()
    view.close()
    view.close()
    await expect(loading).rejects.toThrow('the view is closed')
    await expect(queued).rejects.toThrow('the view is closed')
    await expect(view.load()).rejects.toThrow('the view is closed')
    host.tell('approval/resolved', approvalResolved('a-1', 2))
    await settled()
    expect(idsOf(view)).toEqual(['a-1@0'])
  })
})

describe('a gap', () => {
  test('is paged through from its start to its end, and what comes meanwhile is held', async () => {
    const { host, view, drawn } = await viewed()
    host.tell('approval/requested', approval('a-1', 1))
    host.tell('view/gap', gap(1, 5))
    const first = await host.expect('view/page')
    expect(first.params).toEqual({ sessionId: SESSION, cursor: cursor(1), limit: 1000, direction: 'forward' })
    host.tell('approval/updated', approvalUpdated('a-1', 5, 2))
    host.tell('approval/resolved', approvalResolved('a-2', 6))
    await settled()
    expect(idsOf(view)).toEqual(['a-1@0'])
    host.answer(first, {
      events: [element('approval/updated', approvalUpdated('a-1', 2, 1))],
      nextCursor: cursor(2),
    })
    const second = await host.expect('view/page')
    expect(second.params?.['cursor']).toBe(cursor(2))
    host.answer(second, {
      events: [
        element('approval/requested', approval('a-2', 3)),
        element('userInput/requested', userInput('u-1', 4)),
        element('approval/updated', approvalUpdated('a-1', 5, 2)),
        element('approval/updated', approvalUpdated('a-1', 99, 9)),
      ],
      nextCursor: cursor(99),
    })
    await settled()
    expect(idsOf(view)).toEqual(['a-1@2', 'u-1'])
    expect(drawn).toEqual([['a-1@0'], ['a-1@2', 'u-1']])
    expect(view.settlementOf('a-2')).toBeDefined()
  })

  test('that ends with the view needs no more pages', async () => {
    const { host, view, errors } = await viewed()
    host.tell('view/gap', gap(1, 5))
    host.answer(await host.next(), {
      events: [element('approval/requested', approval('a-1', 2))],
      nextCursor: null,
    })
    await settled()
    expect(idsOf(view)).toEqual(['a-1@0'])
    expect([view.isCatchingUp, errors]).toEqual([false, []])
  })

  test('told after what follows it does not take an approval back to an older requirement', async () => {
    const { host, view } = await viewed()
    host.tell('approval/requested', approval('a-1', 1))
    host.tell('approval/updated', approvalUpdated('a-1', 3, 2))
    host.tell('approval/updated', approvalUpdated('a-1', 4, 3))
    host.tell('view/gap', gap(1, 3))
    host.answer(await host.next(), {
      events: [
        element('approval/updated', approvalUpdated('a-1', 2, 1)),
        element('approval/updated', approvalUpdated('a-1', 3, 2)),
      ],
      nextCursor: cursor(3),
    })
    await settled()
    expect(idsOf(view)).toEqual(['a-1@3'])
  })

  test('is filled before the next one', async () => {
    const { host, view } = await viewed()
    host.tell('view/gap', gap(1, 3))
    host.tell('view/gap', gap(3, 5))
    const first = await host.next()
    expect(first.params?.['cursor']).toBe(cursor(1))
    host.answer(first, { events: [element('approval/requested', approval('a-1', 3))], nextCursor: cursor(3) })
    const second = await host.next()
    expect(second.params?.['cursor']).toBe(cursor(3))
    host.answer(second, {
      events: [element('approval/resolved', approvalResolved('a-1', 5))],
      nextCursor: cursor(5),
    })
    await settled()
    expect(idsOf(view)).toEqual([])
    expect(view.settlementOf('a-1')).toBeDefined()
  })

  test('leaves out an event against the protocol, and reports it', async () => {
    const { host, view, errors } = await viewed()
    host.tell('view/gap', gap(1, 5))
    const { questions: _, ...broken } = userInput('u-1', 2)
    host.answer(await host.next(), {
      events: [
        element('userInput/requested', broken),
        element('item/ofTheFuture', other(3)),
        element('userInput/requested', userInput('u-2', 5)),
      ],
      nextCursor: cursor(5),
    })
    await settled()
    expect(idsOf(view)).toEqual(['u-2'])
    expect(errors).toHaveLength(1)
  })

  test('of an older host may have a settlement without its time', async () => {
    const { host, view } = await viewed()
    host.tell('view/gap', gap(1, 5))
    const { decidedAt: _, ...older } = userInputSettled('u-1', 2)
    host.answer(await host.next(), {
      events: [element('userInput/settled', older)],
      nextCursor: null,
    })
    await settled()
    expect(view.settlementOf('u-1')?.params).toMatchObject({ decidedAt: null })
  })

  test('that cannot be read now is tried again where it stopped, later and later, and reported', async () => {
    const { host, view, clock, errors } = await viewed()
    host.tell('view/gap', gap(1, 5))
    host.answer(await host.next(), {
      events: [element('approval/requested', approval('a-1', 2))],
      nextCursor: cursor(2),
    })
    for (const delay of [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const page = await host.expect('view/page')
      expect(page.params?.['cursor']).toBe(cursor(2))
      host.refuse(page, -32_001, 'overloaded')
      await settled()
      expect(clock.waiting).toEqual([delay])
      clock.advance(delay)
    }
    host.tell('approval/resolved', approvalResolved('a-2', 6))
    host.answer(await host.next(), {
      events: [element('approval/requested', approval('a-2', 5))],
      nextCursor: cursor(5),
    })
    await settled()
    expect(errors).toHaveLength(9)
    expect(idsOf(view)).toEqual(['a-1@0'])
    expect(view.settlementOf('a-2')).toBeDefined()
    expect(clock.waiting).toEqual([])
  })

  test('that cannot be read at all is made good by the list', async () => {
    const { host, view, errors, clock } = await viewed()
    host.tell('approval/requested', approval('a-1', 1))
    host.tell('view/gap', gap(1, 5))
    host.refuse(await host.expect('view/page'), -32_040, 'viewTruncated', { earliestCursor: cursor(4) })
    const listing = await host.expect('approval/listPending')
    host.tell('userInput/settled', userInputSettled('u-1', 7))
    host.answer(listing, { approvals: [], userInputs: [userInput('u-1', 3), userInput('u-2', 4)] })
    await settled()
    expect(idsOf(view)).toEqual(['u-2'])
    expect(errors).toMatchObject([{ kind: 'viewTruncated' }])
    expect([clock.waiting, view.isCatchingUp]).toEqual([[], false])
  })

  test('whose pages lead nowhere is made good by the list', async () => {
    const { host, view, errors } = await viewed()
    host.tell('view/gap', gap(1, 5))
    host.answer(await host.expect('view/page'), { events: [], nextCursor: cursor(1) })
    host.answer(await host.expect('approval/listPending'), { approvals: [approval('a-1')], userInputs: [] })
    await settled()
    expect(idsOf(view)).toEqual(['a-1@0'])
    expect(errors).toMatchObject([{ name: 'WireProtocolError' }])
  })

  test('is tried again where the list is refused too', async () => {
    const { host, view, errors, clock } = await viewed()
    host.tell('view/gap', gap(1, 5))
    host.refuse(await host.expect('view/page'), -32_024, 'sessionNotLoaded')
    host.refuse(await host.expect('approval/listPending'), -32_603, 'internal')
    await settled()
    expect([errors.length, clock.waiting]).toEqual([2, [250]])
    clock.advance(250)
    host.answer(await host.expect('view/page'), {
      events: [element('approval/requested', approval('a-1', 5))],
      nextCursor: cursor(5),
    })
    await settled()
    expect(idsOf(view)).toEqual(['a-1@0'])
  })

  test.each([
    ['the view is closed', ({ view }: Viewed) => view.close()],
    ['the channel ends', ({ host }: Viewed) => host.close()],
  ])('is given up, without a timer or a report, where %s', async (_, end) => {
    for (const isWaiting of [true, false]) {
      const all = await viewed()
      const { host, view, errors, clock } = all
      host.tell('view/gap', gap(1, 5))
      const page: Frame = await host.next()
      if (isWaiting) host.refuse(page, -32_001, 'overloaded')
      await settled()
      const reported = errors.length
      end(all)
      await settled()
      expect([clock.waiting, errors.length, view.isCatchingUp]).toEqual([[], reported, false])
    }
  })
})
