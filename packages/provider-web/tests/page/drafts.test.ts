import { expect, test } from 'vitest'
import { openPage, readCard, refusedWith, UNREACHABLE, useChromium } from './browser.ts'
import { CHECKS, NAME, PLAN, REGION } from './questions.ts'
import { DB, servePage } from './served-page.ts'

useChromium()

test.for([{ sqlite: true }, { sqlite: false }])(
  'a reload while typing keeps what was typed, with a restart of the server in between (sqlite: $sqlite)',
  async ({ sqlite }) => {
    const inbox = await servePage({ sqlite })
    const id = await inbox.ask([DB, REGION, CHECKS])
    const page = await openPage(inbox.url(), { allow: [UNREACHABLE] })
    await readCard(page, 'Which store?')
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await readCard(page, 'Where should it run?')
    await page.getByRole('textbox', { name: 'Type your own answer' }).click()
    await page.keyboard.type('in the ba')
    await page.reload()
    await readCard(page, 'Where should it run?')
    const field = page.getByRole('textbox', { name: 'Type your own answer' })
    expect(await field.inputValue()).toBe('in the ba')

    await inbox.stop()
    await page.getByText('Offline. What you write is kept; trying to connect again.').first().waitFor()
    await field.click()
    await page.keyboard.press('End')
    await page.keyboard.type('sement')
    await inbox.start()
    await page.getByText('Connected').waitFor()
    expect(await field.inputValue()).toBe('in the basement')
    await page.reload()
    await readCard(page, 'Where should it run?')
    expect(await field.inputValue()).toBe('in the basement')
    expect(await page.getByRole('radio', { name: 'Type your own answer' }).isChecked()).toBe(true)
    await page.getByRole('button', { name: 'Review' }).click()
    await readCard(page, 'Your answers')
    await page.getByRole('button', { name: 'Send answers' }).click()
    expect((await inbox.ending(id)).answer).toEqual({
      answers: [
        { id: 'db', selected: ['Postgres'] },
        { id: 'region', selected: [], custom: 'in the basement' },
        { id: 'checks', selected: [] },
      ],
    })
  },
)

test('a page that is opened when another was closed has the draft, and every kind of it', async () => {
  const inbox = await servePage()
  await inbox.ask([CHECKS])
  await inbox.ask([PLAN])
  const first = await openPage(inbox.url())
  await readCard(first, 'Which checks should run?')
  await first.getByText('Lint', { exact: true }).click()
  await first.getByText('Add a note').click()
  await first.getByRole('textbox', { name: 'A note beside your choice' }).fill('only once')
  await first.getByRole('button', { name: 'Not answering…' }).click()
  await first.getByRole('textbox', { name: 'What you want to say' }).fill('which version?')
  await first.getByRole('button', { name: /Go ahead with this plan/u }).click()
  await readCard(first, 'Go ahead with this plan?')
  await first.getByRole('textbox', { name: 'Feedback' }).fill('smaller')
  const second = await openPage(inbox.url(), { beside: first })
  await first.close()
  await readCard(second, 'Which checks should run?')
  expect(await second.getByRole('checkbox', { name: 'Lint' }).isChecked()).toBe(true)
  expect(await second.getByRole('textbox', { name: 'A note beside your choice' }).inputValue()).toBe(
    'only once',
  )
  await second.getByRole('button', { name: 'Not answering…' }).click()
  expect(await second.getByRole('textbox', { name: 'What you want to say' }).inputValue()).toBe(
    'which version?',
  )
  await second.getByRole('button', { name: /Go ahead with this plan/u }).click()
  await readCard(second, 'Go ahead with this plan?')
  expect(await second.getByRole('textbox', { name: 'Feedback' }).inputValue()).toBe('smaller')
})

test('a draft stays while the page looks at another request, and is gone once it was sent', async () => {
  const inbox = await servePage()
  const id = await inbox.ask([NAME])
  await inbox.ask([DB])
  const page = await openPage(inbox.url())
  const kept = () =>
    page.evaluate(() => Object.keys(localStorage).filter(key => key.includes('draft')).length)
  await readCard(page, 'What should the service be called?')
  await page.getByRole('textbox', { name: 'Your answer' }).fill('ledger')
  await page.getByRole('button', { name: /Which store/u }).click()
  await readCard(page, 'Which store?')
  await page.getByRole('button', { name: /What should the service/u }).click()
  await readCard(page, 'What should the service be called?')
  expect(await page.getByRole('textbox', { name: 'Your answer' }).inputValue()).toBe('ledger')
  expect(await kept()).toBe(1)
  await page.getByRole('button', { name: 'Send' }).click()
  expect(await inbox.ending(id)).toMatchObject({ outcome: 'answered' })
  await readCard(page, 'Which store?')
  expect(await kept()).toBe(0)
})

test('a decision on its way is sent again by the page that is loaded after, as the same command', async () => {
  const inbox = await servePage()
  const id = await inbox.ask([NAME])
  const page = await openPage(inbox.url(), { allow: [UNREACHABLE] })
  const commands: string[] = []
  let reachable = false
  await page.route('**/answer', route => {
    commands.push((route.request().postDataJSON() as { commandId: string }).commandId)
    return reachable ? route.continue() : route.abort()
  })
  await readCard(page, 'What should the service be called?')
  await page.getByRole('textbox', { name: 'Your answer' }).fill('ledger')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText(/^Not sent yet: the server cannot be reached/u).waitFor()
  reachable = true
  await page.reload()
  const { commandId, answer } = await inbox.ending(id)
  expect(answer).toEqual({ answers: [{ id: 'name', selected: [], custom: 'ledger' }] })
  expect(new Set(commands)).toEqual(new Set([commandId]))
})

test('a draft outlives a server that came back with another token, which the page then asks for', async () => {
  const inbox = await servePage({ token: 'the-first-of-the-tokens' })
  await inbox.ask([NAME])
  const page = await openPage(inbox.url(), { allow: [UNREACHABLE, refusedWith(401)] })
  await readCard(page, 'What should the service be called?')
  await page.getByRole('textbox', { name: 'Your answer' }).fill('ledger')
  await inbox.stop()
  await inbox.start({ token: 'the-second-of-the-tokens' })
  await page.getByRole('heading', { name: 'This page needs its token' }).waitFor()
  await page.getByText('The server does not know this token.').waitFor()
  await page.getByLabel('Token').fill('the-second-of-the-tokens')
  await page.getByRole('button', { name: 'Enter' }).click()
  await readCard(page, 'What should the service be called?')
  expect(await page.getByRole('textbox', { name: 'Your answer' }).inputValue()).toBe('ledger')
})

test('what else was kept under the name of a draft is left out, and does no harm', async () => {
  const inbox = await servePage()
  const id = await inbox.ask([NAME])
  const page = await openPage(inbox.url())
  await readCard(page, 'What should the service be called?')
  await page.getByRole('textbox', { name: 'Your answer' }).fill('ledger')
  const bad = ['', '{', 'null', '{"version":2}', '{"version":1,"at":1,"draft":{}}', '[]', '{"version":1}']
  for (const text of bad) {
    await page.evaluate(
      ([key, value]) => {
        const name = Object.keys(localStorage).find(each => each.endsWith(`draft:${key}`))!
        localStorage.setItem(name, value!)
      },
      [id, text],
    )
    await page.reload()
    await readCard(page, 'What should the service be called?')
    expect(await page.getByRole('textbox', { name: 'Your answer' }).inputValue()).toBe('')
    await page.getByRole('textbox', { name: 'Your answer' }).fill('ledger')
  }
})

test('a browser that keeps nothing for the page still takes an answer', async () => {
  const inbox = await servePage()
  const id = await inbox.ask([NAME])
  const page = await openPage(inbox.url(), {
    init: () => {
      Storage.prototype.setItem = () => {
        throw new DOMException('full', 'QuotaExceededError')
      }
    },
  })
  await readCard(page, 'What should the service be called?')
  await page.getByRole('textbox', { name: 'Your answer' }).fill('ledger')
  await page.getByRole('button', { name: 'Send' }).click()
  expect(await inbox.ending(id)).toMatchObject({ outcome: 'answered' })
})
