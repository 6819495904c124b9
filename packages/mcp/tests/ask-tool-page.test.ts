import { expect, test } from 'vitest'
import { PageNotice } from '../src/ask-tool-page.ts'
import {
  ANSWERED,
  ask,
  decide,
  HeldClock,
  join,
  offer,
  onePending,
  settle,
  textOf,
  type Asked,
  type Offer,
} from './offer-scene.ts'

/** Where people answer, which changes; and what each look was told of the one before. */
function places(...pages: (string | Error)[]) {
  const before: (string | undefined)[] = []
  const page = (found: string | undefined): string => {
    const next = pages[Math.min(before.push(found), pages.length) - 1] ?? ''
    if (next instanceof Error) throw next
    return next
  }
  return { page, before }
}

const ONE = 'http://127.0.0.1:4100/'
const OTHER = 'http://127.0.0.1:4200/'

/** Asks, and goes on with it so many times, each time until the call returns that nobody has answered. */
async function waiting(host: Offer, clock: HeldClock, calls: number): Promise<Asked[]> {
  const client = await join(host, '2025')
  const results: Asked[] = []
  let args: object | undefined
  for (let call = 1; call <= calls; call += 1) {
    const asking = ask(client, args)
    args = { request_id: await onePending(host.inbox) }
    await clock.pass(50_000)
    results.push(await asking)
  }
  return results
}

const pagesOf = (results: readonly Asked[]): (string | undefined)[] =>
  results.map(({ structuredContent }) => structuredContent?.page)

test('each call asks where the page is, and tells it again when it is elsewhere', async () => {
  const clock = new HeldClock()
  const { page, before } = places(ONE, ONE, ONE, ONE, OTHER, OTHER, OTHER, OTHER)
  const results = await waiting(await offer({ page }, { clock }), clock, 4)
  expect(pagesOf(results)).toEqual([ONE, undefined, OTHER, undefined])
  expect(textOf(results[2] as Asked)).toContain(OTHER)
  expect(before).toEqual([undefined, ONE, ONE, ONE, ONE, OTHER, OTHER, OTHER])
})

test('a page that ended while the call waited is told by no result', async () => {
  const clock = new HeldClock()
  const { page } = places(ONE, OTHER)
  const [result] = await waiting(await offer({ page }, { clock }), clock, 1)
  expect(pagesOf([result as Asked])).toEqual([OTHER])
})

test('a page that could not be found is looked for again', async () => {
  const clock = new HeldClock()
  const { page } = places(new Error('no page yet'), ONE)
  const results = await waiting(await offer({ page }, { clock }), clock, 2)
  expect(pagesOf(results)).toEqual([undefined, ONE])
})

test('two calls for one request look once', async () => {
  let looks = 0
  const page = async (): Promise<string> => {
    looks += 1
    await settle()
    return ONE
  }
  const host = await offer({ page })
  const client = await join(host, '2025')
  const asking = [1, 2].map(() => ask(client, undefined, { callId: 'call-1' }))
  const id = await onePending(host.inbox)
  await settle()
  await decide(host.inbox, id)
  expect((await Promise.all(asking)).map(textOf)).toEqual([ANSWERED, ANSWERED])
  expect(looks).toBe(1)
})

test('a form that is taken down since its question is settled needs no page', async () => {
  const { page, before } = places(ONE)
  const host = await offer({ page })
  let show = (): void => {}
  const up = new Promise<void>(resolve => (show = resolve))
  const screen = (): Promise<object> => {
    show()
    return new Promise(() => {})
  }
  const asking = ask(await join(host, '2025', { screen }))
  await up
  await decide(host.inbox, await onePending(host.inbox))
  expect(textOf(await asking)).toBe(ANSWERED)
  await settle()
  expect(before).toEqual([])
})

test('nothing is kept of a request that is settled', async () => {
  const { page, before } = places(ONE, OTHER)
  const notice = new PageNotice(page, () => {})
  await notice.find('request')
  notice.forget('request')
  expect(notice.tell('request', ONE, 'result')).toBeUndefined()
  await notice.find('request')
  expect(before).toEqual([undefined, undefined])
})
