import { describe, expect, test } from 'vitest'
import { accessibleNodes, axe, focused, openPage, readCard, useChromium } from './browser.ts'
import { REGION } from './questions.ts'
import { DB, servePage } from './served-page.ts'
import { showView, VIEWS } from './views.ts'
import { until } from '../served.ts'

useChromium()

describe('axe finds nothing', () => {
  test.for(Object.keys(VIEWS))('in the view: %s', async name => {
    const page = await showView(name)
    const found: Record<string, string[]> = {}
    found['light'] = await axe(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    found['dark'] = await axe(page)
    await page.setViewportSize({ width: 360, height: 640 })
    found['dark, on a phone'] = await axe(page)
    await page.emulateMedia({ colorScheme: 'light' })
    found['on a phone'] = await axe(page)
    // Nothing is wider than the screen.
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    await page.evaluate(() => (document.documentElement.dir = 'rtl'))
    found['right to left, on a phone'] = await axe(page)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    await page.setViewportSize({ width: 1000, height: 720 })
    found['right to left'] = await axe(page)
    expect(Object.entries(found).flatMap(([how, faults]) => faults.map(fault => `${how}: ${fault}`))).toEqual(
      [],
    )
  })
})

test('a list of options says of each its name, what it means, whether it is chosen, and where it stands', async () => {
  const inbox = await servePage()
  await inbox.ask([REGION])
  const page = await openPage(inbox.url())
  const card = await readCard(page, 'Where should it run?')
  await page.keyboard.press('1')
  const said = (await accessibleNodes(page))
    .filter(({ role }) => role?.value === 'radio')
    .map(({ name, description, properties = [] }) => ({
      name: name?.value as string,
      description: (description?.value ?? '') as string,
      checked: properties.find(property => property.name === 'checked')?.value.value as string,
    }))
  expect(said).toEqual([
    { name: 'Frankfurt', description: 'Near most users', checked: 'true' },
    { name: 'Virginia Recommended', description: 'Cheapest', checked: 'false' },
    { name: 'Tokyo', description: '', checked: 'false' },
    { name: 'Type your own answer', description: '', checked: 'false' },
  ])
  expect(await card.getByRole('radiogroup', { name: 'Where should it run?' }).count()).toBe(1)
  // Radio buttons of one name are a set, whose size and positions the browser tells by itself.
  const names = await card
    .getByRole('radio')
    .evaluateAll(inputs => inputs.map(input => (input as HTMLInputElement).name))
  expect(new Set(names).size).toBe(1)
})

describe('focus', () => {
  const inCard = 'document.activeElement?.closest(".card") !== null'

  test('goes to the question that comes up, and on to the next one when it is answered', async () => {
    const inbox = await servePage()
    await inbox.ask([DB])
    await inbox.ask([REGION])
    const page = await openPage(inbox.url())
    await readCard(page, 'Which store?')
    await expect.poll(() => focused(page)).toBe('heading: Which store?')
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await readCard(page, 'Where should it run?')
    await expect.poll(() => focused(page)).toBe('heading: Where should it run?')
  })

  test('is on what the page says when nothing else waits', async () => {
    const inbox = await servePage()
    await inbox.ask([DB])
    const page = await openPage(inbox.url())
    await readCard(page, 'Which store?')
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
    await expect.poll(() => focused(page)).toBe('heading: Nothing is waiting')
  })

  test('goes to the ways to leave, and back to the question', async () => {
    const inbox = await servePage()
    await inbox.ask([DB])
    const page = await openPage(inbox.url())
    await readCard(page, 'Which store?')
    await page.getByRole('button', { name: 'Not answering…' }).click()
    await expect.poll(() => focused(page)).toBe('heading: Leave this without an answer')
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page)).toBe('heading: Which store?')
  })

  test('is not taken from a person by a request that comes in', async () => {
    const inbox = await servePage()
    await inbox.ask([DB])
    const page = await openPage(inbox.url())
    await readCard(page, 'Which store?')
    await page.getByRole('textbox', { name: 'Type your own answer' }).click()
    await page.keyboard.type('Ma')
    await inbox.ask([REGION])
    await until(async () => (await page.title()) === '(2) Handraise')
    await page.keyboard.type('ria')
    expect(await page.getByRole('textbox', { name: 'Type your own answer' }).inputValue()).toBe('Maria')
  })

  test('stays in the card when what was sent could not be, and when it is taken back', async () => {
    const inbox = await servePage()
    await inbox.ask([DB])
    const page = await openPage(inbox.url(), { allow: [/net::ERR_/u] })
    await page.route('**/answer', route => route.abort())
    await readCard(page, 'Which store?')
    await page.getByText('Postgres', { exact: true }).click()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Not sent yet').waitFor()
    expect(await page.evaluate(inCard)).toBe(true)
    await page.getByRole('button', { name: 'Change it first' }).click()
    expect(await page.evaluate(inCard)).toBe(true)
  })
})

test('what changes is announced: a question that comes up, what was sent, who settled it, and a lost connection', async () => {
  const inbox = await servePage()
  const page = await openPage(inbox.url(), { allow: [/net::ERR_/u] })
  await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
  const heard: string[] = []
  await page.exposeFunction('heard', (text: string) => void heard.push(text))
  await page.evaluate(() => {
    const region = document.querySelector('p[role=status].unseen')!
    new MutationObserver(() =>
      (globalThis as unknown as { heard(text: string): void }).heard(region.textContent),
    ).observe(region, { childList: true, characterData: true, subtree: true })
  })
  const id = await inbox.ask([DB])
  await readCard(page, 'Which store?')
  await page.keyboard.press('1')
  await page.keyboard.press('Enter')
  await inbox.ending(id)
  const second = await inbox.ask([REGION])
  await readCard(page, 'Where should it run?')
  await inbox.client.decline(second, { surface: 'terminal' })
  await page.getByText('Declined on terminal').first().waitFor()
  await inbox.stop()
  await page.getByText('Offline.').first().waitFor()
  const said = () => heard.filter(text => text !== '')
  await until(() => said().length >= 5)
  expect(said()).toEqual([
    'Which store?',
    'Sent: Which store?',
    'Where should it run?',
    'Declined on terminal',
    'Offline. What you write is kept; trying to connect again.',
  ])
})
