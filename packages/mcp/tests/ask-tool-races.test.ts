import type { Form } from '@handraise/elicitation'
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
} from './offer-scene.ts'

const named = (id: string): object => ({ questions: [{ ...QUESTIONS[0], id, question: `Which ${id}?` }] })

/** Holds every form until it is told what to do with the one that is up. */
function heldForms() {
  const up: { form: Form; reply: (reply: object) => void }[] = []
  const screen: Screen = form => new Promise<object>(reply => void up.push({ form, reply }))
  return { up, screen }
}

describe.each(ERAS)('one client of %s', era => {
  test('that asks three things at once gets to each its own answer, in whatever order they are answered', async () => {
    const host = await offer()
    const client = await join(host, era)
    const ids = ['db', 'cache', 'queue']
    const asking = ids.map(id => ask(client, named(id)))
    await expect.poll(() => pendingIn(host.inbox)).toHaveLength(3)
    const { requests } = await host.inbox.list({ state: 'pending' })
    const idOf = new Map(
      requests.map(({ id, payload }) => [(payload as { questions: { id: string }[] }).questions[0]?.id, id]),
    )
    // What names no request while three are open is none's answer, and goes on with none.
    const unnamed = await ask(client, {})
    expect(unnamed.isError).toBe(true)
    expect(await pendingIn(host.inbox)).toHaveLength(3)
    for (const [id, label] of [
      ['queue', 'SQLite'],
      ['db', 'Postgres'],
      ['cache', 'SQLite'],
    ] as const) {
      const answer = { answers: [{ id, selected: [label] }] }
      const command = { commandId: `c-${id}`, surface: 'page' }
      await host.inbox.decide(idOf.get(id) ?? '', { outcome: 'answered', answer }, command)
    }
    const results = await Promise.all(asking)
    expect(results.map(({ structuredContent }) => structuredContent?.request_id)).toEqual(
      ids.map(id => idOf.get(id)),
    )
    expect(results.map(({ structuredContent }) => structuredContent?.answers)).toEqual([
      [{ id: 'db', selected: ['Postgres'] }],
      [{ id: 'cache', selected: ['SQLite'] }],
      [{ id: 'queue', selected: ['SQLite'] }],
    ])
  })

  test('that goes on with what was answered is not shown its form again', async () => {
    const host = await offer()
    let shown = 0
    const screen: Screen = () => {
      shown += 1
      return { action: 'accept', content: { db: 'SQLite' } }
    }
    const client = await join(host, era, { screen })
    const { request_id } = (await ask(client)).structuredContent ?? {}
    const events = await host.inbox.list({ state: 'settled' })
    const again = await Promise.all([ask(client, { request_id }), ask(client, { request_id })])
    expect(again.map(textOf)).toEqual([ANSWERED, ANSWERED])
    expect(shown).toBe(1)
    expect(await host.inbox.list({ state: 'settled' })).toEqual(events)
    expect(await pendingIn(host.inbox)).toEqual([])
  })

  test('that cancels its call settles once, and whoever answers later is told that it is over', async () => {
    const host = await offer()
    const client = await join(host, era)
    const controller = new AbortController()
    const asking = ask(client, undefined, { signal: controller.signal }).catch(() => 'cancelled')
    const id = await onePending(host.inbox)
    controller.abort()
    expect(await asking).toBe('cancelled')
    await expect.poll(() => pendingIn(host.inbox)).toEqual([])
    const before = await host.inbox.get(id)
    await expect(decide(host.inbox, id)).rejects.toMatchObject({ code: 'ALREADY_SETTLED' })
    expect(await host.inbox.get(id)).toEqual(before)
  })
})

test('the forms of one client of 2025 come one after the other, and each answers its own call', async () => {
  const host = await offer()
  const { up, screen } = heldForms()
  const client = await join(host, '2025', { screen })
  const asking = ['db', 'cache', 'queue'].map(id => ask(client, named(id)))
  await expect.poll(() => pendingIn(host.inbox)).toHaveLength(3)
  await settle()
  const labels = ['SQLite', 'Postgres', 'SQLite']
  const answered = new Map<string, string>()
  for (const [turn, label] of labels.entries()) {
    await expect.poll(() => up.length).toBe(turn + 1)
    await settle()
    expect(up).toHaveLength(turn + 1)
    const [name = ''] = Object.keys(up[turn]?.form.requestedSchema.properties ?? {})
    answered.set(name, label)
    up[turn]?.reply({ action: 'accept', content: { [name]: label } })
  }
  const results = await Promise.all(asking)
  expect(results.map(({ structuredContent }) => structuredContent?.answers)).toEqual(
    ['db', 'cache', 'queue'].map(id => [{ id, selected: [answered.get(id)] }]),
  )
})

test('a form that waits for its turn is not shown once its call is cancelled', async () => {
  const host = await offer()
  const { up, screen } = heldForms()
  const client = await join(host, '2025', { screen })
  const first = ask(client, named('db'))
  await expect.poll(() => up.length).toBe(1)
  const controller = new AbortController()
  const second = ask(client, named('cache'), { signal: controller.signal }).catch(() => 'cancelled')
  await expect.poll(() => pendingIn(host.inbox)).toHaveLength(2)
  await settle()
  controller.abort()
  expect(await second).toBe('cancelled')
  await expect.poll(() => pendingIn(host.inbox)).toHaveLength(1)
  const third = ask(client, named('queue'))
  await expect.poll(() => pendingIn(host.inbox)).toHaveLength(2)
  up[0]?.reply({ action: 'accept', content: { db: 'SQLite' } })
  expect(textOf(await first)).toBe(ANSWERED)
  await expect.poll(() => up.length).toBe(2)
  expect(up[1]?.form.message).toBe('Which queue?')
  up[1]?.reply({ action: 'accept', content: { queue: 'Postgres' } })
  expect((await third).structuredContent?.answers).toEqual([{ id: 'queue', selected: ['Postgres'] }])
})

test('of the forms of two clients that are sent in at once one counts, and both calls get that one', async () => {
  const clock = new HeldClock()
  const host = await offer({}, { clock })
  const screens = [heldForms(), heldForms()]
  const [one, other] = await Promise.all(screens.map(({ screen }) => join(host, '2025', { screen })))
  if (one === undefined || other === undefined) throw new Error('two clients were to join')
  const asking = ask(one)
  const id = await onePending(host.inbox)
  await clock.pass(50_000)
  expect((await asking).structuredContent?.status).toBe('waiting')
  const goingOn = [ask(one, { request_id: id }), ask(other, { request_id: id })]
  await expect.poll(() => screens.map(({ up }) => up.length)).toEqual([1, 1])
  screens[0]?.up[0]?.reply({ action: 'accept', content: { db: 'Postgres' } })
  screens[1]?.up[0]?.reply({ action: 'accept', content: { db: 'SQLite' } })
  const [first, second] = await Promise.all(goingOn)
  const answers = first?.structuredContent?.answers
  expect(answers).toHaveLength(1)
  expect(second?.structuredContent?.answers).toEqual(answers)
  expect((await host.inbox.get(id)).settlement?.answer).toEqual({ answers })
  expect(await pendingIn(host.inbox)).toEqual([])
})

test('a client that leaves changes nothing for the one that came after it', async () => {
  const clock = new HeldClock()
  const host = await offer({}, { clock })
  const shown = nobody()
  const first = await join(host, '2025', { screen: shown.screen })
  const asking = ask(first)
  const id = await onePending(host.inbox)
  await clock.pass(50_000)
  await asking
  const { up, screen } = heldForms()
  const second = await join(host, '2025', { screen })
  const goingOn = ask(second, { request_id: id })
  await expect.poll(() => up.length).toBe(1)
  await first.close()
  await settle()
  expect(await pendingIn(host.inbox)).toEqual([id])
  up[0]?.reply({ action: 'accept', content: { db: 'SQLite' } })
  expect(textOf(await goingOn)).toBe(ANSWERED)
  expect(codeOf(await ask(second, { request_id: id }))).toBeUndefined()
})

test.each(ERAS)('a call of %s that is sent again after its answer asks nothing anew', async era => {
  const host = await offer()
  const client = await join(host, era, { screen: chooses('SQLite') })
  const call = { callId: 'call-1' }
  const first = await ask(client, undefined, call)
  const again = await ask(client, undefined, call)
  expect(again.structuredContent).toEqual(first.structuredContent)
  const changed = await ask(client, named('cache'), call)
  expect(codeOf(changed)).toBe('KEY_CONFLICT')
  expect((await host.inbox.list({ state: 'settled' })).requests).toHaveLength(1)
})
