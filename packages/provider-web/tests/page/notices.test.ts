import { describe, expect, test } from 'vitest'
import { openPage, readCard, useChromium, type OpenOptions, type Page } from './browser.ts'
import { CHECKS, NAME, REGION } from './questions.ts'
import { DB, servePage } from './served-page.ts'
import { until } from '../served.ts'

useChromium()

interface Notice {
  readonly title: string
  readonly body: string
  readonly tag: string
  readonly closed: boolean
}

// What a browser without a desktop cannot show is written down instead; and the page can be made to be looked at by nobody.
function record(): void {
  const told: Array<EventTarget & { closed: boolean }> = []
  class Recorded extends EventTarget {
    static permission = 'granted'
    static async requestPermission() {
      return (Recorded.permission = 'granted')
    }
    closed = false
    readonly title: string
    constructor(title: string, options: { body?: string; tag?: string }) {
      super()
      this.title = title
      Object.assign(this, options)
      told.push(this)
    }
    close() {
      this.closed = true
      this.dispatchEvent(new Event('close'))
    }
  }
  let hidden = false
  Object.defineProperty(document, 'hidden', { get: () => hidden })
  Object.assign(globalThis, {
    Notification: Recorded,
    told,
    hide(now: boolean) {
      hidden = now
      document.dispatchEvent(new Event('visibilitychange'))
    },
  })
}

const noticed: OpenOptions = { init: record }
const hide = (page: Page, hidden = true) =>
  page.evaluate(now => (globalThis as unknown as { hide(now: boolean): void }).hide(now), hidden)
const told = (page: Page): Promise<Notice[]> =>
  page.evaluate(() =>
    (globalThis as unknown as { told: Notice[] }).told.map(({ title, body, tag, closed }) => ({
      title,
      body,
      tag,
      closed,
    })),
  )

test('the title counts what waits, and nothing when nothing does', async () => {
  const inbox = await servePage()
  const page = await openPage(inbox.url())
  await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
  expect(await page.title()).toBe('Handraise')
  const ids = [await inbox.ask([DB]), await inbox.ask([REGION])]
  await until(async () => (await page.title()) === '(2) Handraise')
  for (const id of ids) await inbox.client.decline(id)
  await until(async () => (await page.title()) === 'Handraise')
})

describe('a notification', () => {
  test('tells once of a request that comes while nobody looks, without its text, and goes when it is settled', async () => {
    const inbox = await servePage()
    await inbox.ask([DB])
    const page = await openPage(inbox.url(), noticed)
    await readCard(page, 'Which store?')
    await hide(page)
    const id = await inbox.ask([{ ...REGION, question: 'Where is the secret?' }])
    await until(async () => (await told(page)).length === 1)
    expect(await told(page)).toEqual([{ title: 'Region', body: '', tag: `handraise-${id}`, closed: false }])
    await inbox.ask([{ id: 'q', question: 'Without a heading?' }])
    await until(async () => (await told(page)).length === 2)
    expect((await told(page))[1]).toMatchObject({ title: 'Somebody asks you something', body: '' })
    await inbox.client.decline(id)
    await until(async () => (await told(page))[0]!.closed)
    expect(await told(page)).toHaveLength(2)
  })

  test('is not shown to somebody who looks, nor for what had been there before', async () => {
    const inbox = await servePage()
    await inbox.ask([DB])
    const page = await openPage(inbox.url(), noticed)
    await readCard(page, 'Which store?')
    await inbox.ask([REGION])
    await until(async () => (await page.title()) === '(2) Handraise')
    await hide(page)
    await inbox.ask([NAME])
    await until(async () => (await told(page)).length > 0)
    expect((await told(page)).map(({ title }) => title)).toEqual(['Name'])
  })

  test('holds the question when the person wants it to, and brings them to it', async () => {
    const inbox = await servePage()
    await inbox.ask([DB])
    const page = await openPage(inbox.url(), noticed)
    await readCard(page, 'Which store?')
    await page.getByRole('checkbox', { name: 'With the question' }).check()
    await hide(page)
    await inbox.ask([CHECKS, { id: 'evil', question: 'Safe\u202e?\u001b[2K' }])
    await until(async () => (await told(page)).length === 1)
    expect((await told(page))[0]!.body).toBe('Which checks should run?\nSafe\\u202e?\\u001b[2K')
    await hide(page, false)
    await page.evaluate(() =>
      (globalThis as unknown as { told: EventTarget[] }).told[0]!.dispatchEvent(new Event('click')),
    )
    await readCard(page, 'Which checks should run?')
    expect((await told(page))[0]!.closed).toBe(true)
    await page.reload()
    await page.getByRole('checkbox', { name: 'With the question', checked: true }).waitFor()
  })

  test('comes too when more is pending than was loaded', async () => {
    const inbox = await servePage()
    for (let asked = 0; asked < 101; asked += 1) await inbox.ask([DB])
    const page = await openPage(inbox.url(), noticed)
    await readCard(page, 'Which store?')
    await hide(page)
    await inbox.ask([NAME])
    await until(async () => (await told(page)).length === 1)
    expect((await told(page))[0]!.title).toBe('Name')
  })

  test('is offered, and asked for only when the person says so', async () => {
    const inbox = await servePage()
    const page = await openPage(inbox.url(), noticed)
    await page.addInitScript(() => ((Notification as { permission: string }).permission = 'default'))
    await page.reload()
    await page.getByRole('button', { name: 'Notify me' }).click()
    await page.getByRole('checkbox', { name: 'With the question' }).waitFor()
    expect(await page.getByRole('button', { name: 'Notify me' }).count()).toBe(0)
  })
})
