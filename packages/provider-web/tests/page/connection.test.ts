import { describe, expect, test } from 'vitest'
import { openPage, readCard, refusedWith, UNREACHABLE, useChromium, type Page } from './browser.ts'
import { NAME, REGION } from './questions.ts'
import { DB, servePage } from './served-page.ts'
import { until } from '../served.ts'

useChromium()

const list = (page: Page) => page.getByRole('navigation', { name: 'Waiting' }).getByRole('button')

describe('a connection that is lost', () => {
  test('is said, and what happened meanwhile is caught up with by itself', async () => {
    const inbox = await servePage()
    const settled = await inbox.ask([DB])
    await inbox.ask([REGION])
    const page = await openPage(inbox.url(), { allow: [UNREACHABLE] })
    await readCard(page, 'Which store?')
    await inbox.stop()
    await page.getByText('Offline.').first().waitFor()
    await expect
      .poll(() => page.getByRole('status').last().textContent())
      .toBe('Offline. What you write is kept; trying to connect again.')
    await inbox.answerUnseen(settled, 'SQLite')
    await inbox.start()
    await inbox.ask([NAME])
    await page.getByText('Connected').waitFor()
    await page.getByText('Answered on terminal').first().waitFor()
    await until(async () => (await list(page).count()) === 2)
    expect((await list(page).allInnerTexts()).map(text => text.split('\n')[0])).toEqual([
      'Where should it run?',
      'What should the service be called?',
    ])
    expect(await page.getByText('Offline.').count()).toBe(0)
  })

  test('and found again shows the end of the request in view, however many others are pending', async () => {
    const inbox = await servePage()
    const id = await inbox.ask([DB])
    for (let asked = 0; asked < 120; asked += 1) await inbox.ask([REGION])
    const page = await openPage(inbox.url(), { allow: [UNREACHABLE] })
    await readCard(page, 'Which store?')
    await inbox.stop()
    await page.getByText('Offline.').first().waitFor()
    // Settled before the page can be there to hear of it.
    await inbox.answerUnseen(id, 'SQLite')
    await inbox.start()
    await page.getByText('Connected').waitFor()
    await page.getByText('Answered on terminal').first().waitFor()
  })

  test('is looked for at once when the page is looked at again', async () => {
    const inbox = await servePage()
    const page = await openPage(inbox.url(), { allow: [UNREACHABLE] })
    await page.getByText('Connected').waitFor()
    await inbox.stop()
    await page.getByText('Offline.').first().waitFor()
    await inbox.start()
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await page.getByText('Connected').waitFor()
  })

  test('before anything was loaded is said as well', async () => {
    const inbox = await servePage()
    const page = await openPage(inbox.url(), { allow: [UNREACHABLE] })
    await page.getByText('Connected').waitFor()
    await page.route('**/api/**', route => route.abort())
    await page.reload()
    await page.getByText('Offline.').first().waitFor()
    await page.unrouteAll()
    await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
  })
})

describe('many pages of one browser', () => {
  test('seven of them all work: answers get through, and what is settled on one is gone from the others', async () => {
    const inbox = await servePage()
    const id = await inbox.ask([DB])
    const first = await openPage(inbox.url())
    const pages = [first]
    for (let opened = 1; opened < 7; opened += 1) pages.push(await openPage(inbox.url(), { beside: first }))
    const last = pages.at(-1)!
    await last.bringToFront()
    await readCard(last, 'Which store?')
    await last.keyboard.press('2')
    await last.keyboard.press('Enter')
    expect(await inbox.ending(id)).toMatchObject({ outcome: 'answered' })
    await first.bringToFront()
    await first.getByText('Answered on web').first().waitFor()
  })

  test('pages of single requests, once those are settled, are in nobody’s way', async () => {
    const inbox = await servePage()
    const first = await openPage(inbox.url(await inbox.ask([DB])))
    const settle = async (page: Page) => {
      await readCard(page, 'Which store?')
      await page.keyboard.press('2')
      await page.keyboard.press('Enter')
      await page.getByText('You can close this page.').waitFor()
    }
    await settle(first)
    for (let opened = 1; opened < 8; opened += 1)
      await settle(await openPage(inbox.url(await inbox.ask([DB])), { beside: first }))
  })
})

describe('a page of one request', () => {
  test('shows that one alone, and is done when it is settled', async () => {
    const inbox = await servePage()
    await inbox.ask([DB])
    const id = await inbox.ask([REGION])
    await inbox.ask([NAME])
    const page = await openPage(inbox.url(id))
    await readCard(page, 'Where should it run?')
    expect(await page.getByRole('navigation').count()).toBe(0)
    expect(await page.title()).toBe('(1) Handraise')
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await page.getByText('You can close this page.').waitFor()
    await page.getByText('Answered by you, here').first().waitFor()
    await until(async () => (await page.title()) === 'Handraise')
    expect(await page.getByText('Which store?').count()).toBe(0)
  })

  test('that was settled before shows how', async () => {
    const inbox = await servePage()
    const id = await inbox.ask([DB])
    await inbox.client.answer(id, 'SQLite', { surface: 'terminal' })
    const page = await openPage(inbox.url(id))
    await page.getByText('Answered on terminal').first().waitFor()
    await page.getByText('You can close this page.').waitFor()
  })

  test('that is settled elsewhere shows by whom', async () => {
    const inbox = await servePage()
    const id = await inbox.ask([DB])
    const page = await openPage(inbox.url(id))
    await readCard(page, 'Which store?')
    await inbox.client.answer(id, 'SQLite', { surface: 'terminal' })
    await page.getByText('Answered on terminal').first().waitFor()
  })

  test('that is not there says so, and does not claim to be offline', async () => {
    const inbox = await servePage()
    const page = await openPage(inbox.url('nowhere'), { allow: [refusedWith(404)] })
    await page.getByText('This request is not there any more.').waitFor()
    expect(await page.getByText('Offline.').count()).toBe(0)
  })
})

describe('a deadline', () => {
  test('is counted down, and no longer applies to a person who began to answer', async () => {
    const inbox = await servePage()
    const id = await inbox.ask([DB], { timeoutMs: 90_000 })
    const page = await openPage(inbox.url())
    await readCard(page, 'Which store?')
    const timer = page.getByRole('timer')
    const shown = await timer.textContent()
    expect(shown).toMatch(/^1:(?:30|2\d) left$/u)
    await until(async () => (await timer.textContent()) !== shown)
    await page.getByText('Postgres', { exact: true }).click()
    await timer.waitFor({ state: 'detached' })
    expect((await inbox.client.get(id)).deadline).toBeUndefined()
  })

  test('that passes ends the request on the page', async () => {
    const inbox = await servePage()
    await inbox.ask([DB], { timeoutMs: 700 })
    const page = await openPage(inbox.url())
    await page.getByText('Timed out').first().waitFor()
    expect(await page.getByRole('radio').count()).toBe(0)
  })

  test('counts by the server’s clock', async () => {
    const inbox = await servePage()
    await inbox.ask([DB], { timeoutMs: 600_000 })
    // This browser is an hour late.
    const page = await openPage(inbox.url(), { now: Date.now() - 3_600_000 })
    await page.getByText(/^(?:10:00|9:5\d) left$/u).waitFor()
  })
})

test('the token is in nothing that is kept or shown: neither the address nor the history of the browser', async () => {
  const inbox = await servePage()
  await inbox.ask([DB])
  const { token } = inbox.served.server
  const asked: string[] = []
  const page = await openPage('about:blank')
  page.on('request', request => asked.push(request.url()))
  await page.goto(inbox.url())
  await readCard(page, 'Which store?')
  expect(page.url()).not.toContain(token)
  expect(asked.filter(url => url.replace(/#.*/u, '').includes(token))).toEqual([])
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(token)
  expect(await page.content()).not.toContain(token)
  expect(await page.context().cookies()).toEqual([])
})

test('without a token the page asks for it, and takes the right one', async () => {
  const inbox = await servePage()
  await inbox.ask([DB])
  const { url, token } = inbox.served.server
  const page = await openPage(url, { allow: [refusedWith(401)] })
  await page.getByRole('heading', { name: 'This page needs its token' }).waitFor()
  await page.getByLabel('Token').fill('not-the-token-of-this')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('The server does not know this token.').waitFor()
  await page.getByLabel('Token').fill(token)
  await page.keyboard.press('Enter')
  await readCard(page, 'Which store?')
})

test('an address pasted over the page’s own is taken, token and all', async () => {
  const inbox = await servePage()
  const id = await inbox.ask([REGION])
  await inbox.ask([DB])
  const page = await openPage(inbox.served.server.url)
  await page.getByRole('heading', { name: 'This page needs its token' }).waitFor()
  await page.goto(inbox.url(id))
  await readCard(page, 'Where should it run?')
  expect(await page.getByRole('navigation').count()).toBe(0)
})
