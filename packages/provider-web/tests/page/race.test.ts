import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openTerminal } from '../../../provider-terminal/tests/pseudo-terminal.ts'
import { openPage, readCard, refusedWith, UNREACHABLE, useChromium, type Page } from './browser.ts'
import { NAME, REGION } from './questions.ts'
import { DB, servePage } from './served-page.ts'
import { until } from '../served.ts'

useChromium()

const command = fileURLToPath(new URL('../../../handraise/dist/cli.js', import.meta.url))
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const field = (page: Page) => page.getByRole('textbox', { name: 'Your answer' })

/** A page that hears of nothing that happens after it was opened. */
async function deaf(page: Page): Promise<void> {
  await page.route('**/api/events*', () => {})
  await page.reload()
}

describe('two pages and a terminal on one request', () => {
  async function three() {
    const inbox = await servePage()
    const id = await inbox.ask([DB])
    const { url, token } = inbox.served.server
    const terminal = openTerminal(process.execPath, [command, 'answer', id, '--inbox', url], {
      env: { HANDRAISE_TOKEN: token },
    })
    onTestFinished(() => terminal.close())
    const pages = [await openPage(inbox.url()), await openPage(inbox.url())] as const
    for (const page of pages) await readCard(page, 'Which store?')
    await terminal.untilShown('Enter choose')
    return { inbox, id, terminal, pages }
  }

  test('show the page’s answer when a page wins', async () => {
    const { inbox, id, terminal, pages } = await three()
    const [winner, other] = pages
    await winner.keyboard.press('2')
    await winner.keyboard.press('Enter')
    expect(await inbox.ending(id)).toMatchObject({
      surface: 'web',
      answer: { answers: [{ selected: ['SQLite'] }] },
    })
    await winner.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
    const card = other.getByRole('region', { name: 'Which store?' })
    await card.getByText('Answered on web').waitFor()
    await card.getByText('SQLite').waitFor()
    expect(await card.getByRole('radio').count()).toBe(0)
    await terminal.until(lines => /answered.*web/iu.test(lines.join(' ')), 'who settled it')
  })

  test('show the terminal’s answer when the terminal wins', async () => {
    const { inbox, id, terminal, pages } = await three()
    // Keys before the prompt could be read do not count there, either.
    await new Promise(resolve => setTimeout(resolve, 550))
    terminal.press('enter')
    expect(await inbox.ending(id)).toMatchObject({
      surface: 'command',
      answer: { answers: [{ selected: ['Postgres'] }] },
    })
    for (const page of pages) {
      const card = page.getByRole('region', { name: 'Which store?' })
      await card.getByText('Answered on command').waitFor()
      await card.getByText('Postgres').waitFor()
      expect(await card.getByRole('radio').count()).toBe(0)
      await press(page, 'Close')
      await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
    }
  })
})

test('a request that is settled while somebody types for it shows who settled it, and loses none of the text', async () => {
  const inbox = await servePage()
  const id = await inbox.ask([NAME])
  const page = await openPage(inbox.url())
  await readCard(page, 'What should the service be called?')
  await field(page).fill('ledger, as in\nthe book')
  await inbox.client.answer(id, 'archive', { surface: 'terminal' })
  await page.getByText('Answered on terminal').first().waitFor()
  await page.getByText('archive').waitFor()
  await page.getByText('What you had written here was not sent:').waitFor()
  await page.getByText('ledger, as in\nthe book').waitFor()
  // It is announced, and the person is brought to it: the field they were in is not there any more.
  expect(await page.getByRole('status').last().textContent()).toBe('Answered on terminal')
  expect(await page.evaluate(() => document.activeElement?.closest('.card') !== null)).toBe(true)
})

test('what was not sent can be copied', async () => {
  const inbox = await servePage()
  const id = await inbox.ask([NAME])
  const page = await openPage(inbox.url(), { permissions: ['clipboard-read', 'clipboard-write'] })
  await readCard(page, 'What should the service be called?')
  await field(page).fill('ledger')
  await inbox.client.decline(id, { surface: 'terminal' })
  await press(page, 'Copy')
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('ledger')
})

test('an answer to a request that was just settled shows who settled it, and loses none of the text', async () => {
  const inbox = await servePage()
  const id = await inbox.ask([NAME])
  const page = await openPage(inbox.url(), { allow: [refusedWith(409), /net::ERR_ABORTED/u] })
  await deaf(page)
  await readCard(page, 'What should the service be called?')
  await field(page).fill('ledger')
  await inbox.client.answer(id, 'archive', { surface: 'terminal' })
  await press(page, 'Send')
  await page.getByText('Answered on terminal').first().waitFor()
  await page.getByText('ledger').waitFor()
  expect((await inbox.ending(id)).answer).toEqual({
    answers: [{ id: 'name', selected: [], custom: 'archive' }],
  })
})

test('a request that its asker withdrew is shown so on every page, and a late answer is told the same', async () => {
  const inbox = await servePage()
  const stop = new AbortController()
  const asking = inbox.served.ctx.userQuestions.ask({ questions: [NAME], signal: stop.signal })
  asking.catch(() => {})
  await until(async () => (await inbox.client.list()).requests.length === 1)
  const hearing = await openPage(inbox.url())
  const late = await openPage(inbox.url(), { allow: [refusedWith(409), /net::ERR_ABORTED/u] })
  await deaf(late)
  await readCard(hearing, 'What should the service be called?')
  await readCard(late, 'What should the service be called?')
  await field(late).fill('ledger')
  stop.abort()
  await hearing.getByText('Withdrawn').first().waitFor()
  await press(late, 'Send')
  await late.getByText('Withdrawn').first().waitFor()
  await late.getByText('ledger').waitFor()
  expect((await inbox.client.list({ state: 'settled' })).requests).toHaveLength(1)
})

test('what was settled stays settled through a reload: it is in the history, and not in the list', async () => {
  const inbox = await servePage()
  const id = await inbox.ask([DB])
  const page = await openPage(inbox.url())
  await readCard(page, 'Which store?')
  await page.keyboard.press('2')
  await page.keyboard.press('Enter')
  await inbox.ending(id)
  await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
  await press(page, 'History')
  await page.getByText('Answered on web').first().waitFor()
  const [entry, ...others] = await page.getByRole('listitem').all()
  expect(others).toEqual([])
  expect(await entry!.innerText()).toMatch(/Answered on web .*\n+Which store\?\n+SQLite$/u)
})

test('an answer that breaks a rule of the asker says which, keeps what was written, and the person stays in the card', async () => {
  const inbox = await servePage()
  inbox.served.inbox.registerKind({
    name: 'deploy',
    check: (_, answer) => {
      const { custom } = answer as { custom: string }
      return custom === 'friday'
        ? { ok: false, issues: [{ path: 'day', message: 'friday is no day to deploy' }] }
        : { ok: true, answer: { custom } }
    },
    asQuestions: () => [{ id: 'day', question: 'On which day?' }],
    fromAnswers: (_, [answer]) => ({ custom: answer?.custom ?? '' }),
  })
  const { request } = await inbox.client.open({ kind: 'deploy', payload: {}, key: 'k' })
  const page = await openPage(inbox.url(), { allow: [refusedWith(422), refusedWith(400)] })
  await readCard(page, 'On which day?')
  await field(page).fill('friday')
  await press(page, 'Send')
  await page.getByRole('alert').getByText('friday is no day to deploy').waitFor()
  expect(await page.getByText('friday is no day to deploy').count()).toBe(1)
  expect(await field(page).inputValue()).toBe('friday')
  expect(await field(page).isEnabled()).toBe(true)
  expect(await page.evaluate(() => document.activeElement?.closest('.card') !== null)).toBe(true)
  await field(page).fill('monday')
  await press(page, 'Send')
  expect((await inbox.ending(request.id)).answer).toEqual({ custom: 'monday' })
})

describe('a send that fails', () => {
  test('is tried again with the same command until it arrives, and is taken once', async () => {
    const inbox = await servePage()
    const id = await inbox.ask([REGION])
    const page = await openPage(inbox.url(), { allow: [UNREACHABLE] })
    const sent: unknown[] = []
    let reachable = false
    await page.route('**/answer', route => {
      sent.push(route.request().postDataJSON())
      return reachable ? route.continue() : route.abort()
    })
    await readCard(page, 'Where should it run?')
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await page.getByText('Not sent yet').waitFor()
    // It is the person's to decide what else to do with it, and not to answer beside it.
    expect(await page.getByRole('radio', { name: 'Tokyo' }).isDisabled()).toBe(true)
    reachable = true
    await press(page, 'Try now')
    const { commandId } = await inbox.ending(id)
    expect(sent.length).toBeGreaterThan(1)
    for (const body of sent) expect(body).toEqual(sent[0])
    expect(sent[0]).toMatchObject({ commandId })
  })

  test('is tried again by itself', async () => {
    const inbox = await servePage()
    const id = await inbox.ask([REGION])
    const page = await openPage(inbox.url(), { allow: [UNREACHABLE] })
    let reachable = false
    await page.route('**/answer', route => (reachable ? route.continue() : route.abort()))
    await readCard(page, 'Where should it run?')
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await page.getByText('Not sent yet').waitFor()
    reachable = true
    expect(await inbox.ending(id)).toMatchObject({ outcome: 'answered' })
    await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
  })

  test('whose receipt was lost is known as one’s own', async () => {
    const inbox = await servePage()
    const id = await inbox.ask([REGION])
    const page = await openPage(inbox.url(), { allow: [UNREACHABLE] })
    let lost = 0
    await page.route('**/answer', async route => {
      await route.fetch()
      lost += 1
      await route.abort()
    })
    await readCard(page, 'Where should it run?')
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await inbox.ending(id)
    await page.getByText('Answered by you, here').first().waitFor()
    expect(lost).toBeGreaterThan(0)
    expect(await page.getByText('What you had written here was not sent:').count()).toBe(0)
    expect((await inbox.client.list({ state: 'settled' })).requests).toHaveLength(1)
  })

  test('can be taken back and changed before it arrives', async () => {
    const inbox = await servePage()
    const id = await inbox.ask([REGION])
    const page = await openPage(inbox.url(), { allow: [UNREACHABLE] })
    let reachable = false
    await page.route('**/answer', route => (reachable ? route.continue() : route.abort()))
    await readCard(page, 'Where should it run?')
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await page.getByText('Not sent yet').waitFor()
    await press(page, 'Change it first')
    reachable = true
    await page.getByText('Tokyo', { exact: true }).click()
    await press(page, 'Send')
    expect((await inbox.ending(id)).answer).toEqual({ answers: [{ id: 'region', selected: ['Tokyo'] }] })
  })
})
