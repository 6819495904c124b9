import { describe, expect, test } from 'vitest'
import { ARMED_MS, focused, openPage, readCard, useChromium, type Page } from './browser.ts'
import { NAME, REGION } from './questions.ts'
import { DB, servePage } from './served-page.ts'

useChromium()

const UNREACHABLE = /Failed to load resource/u

async function opened(...questions: Parameters<Awaited<ReturnType<typeof servePage>>['ask']>[0] & object) {
  const inbox = await servePage()
  const id = await inbox.ask(questions)
  const page = await openPage(inbox.url())
  await readCard(page, questions[0]!.question)
  const isPending = async () => (await inbox.client.get(id)).settlement === undefined
  return { inbox, id, page, isPending }
}

/** Time that passes on the page. */
const elapse = (page: Page, ms: number) =>
  page.evaluate(passed => (globalThis as unknown as { elapse(ms: number): void }).elapse(passed), ms)

const hold = async (page: Page, key: string, times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1) {
    await page.keyboard.down(key)
    await elapse(page, 33)
  }
  await page.keyboard.up(key)
}

describe('keys pressed by accident', () => {
  test('Enter, however often, answers nothing that nobody chose or moved to', async () => {
    const { page, isPending } = await opened(DB, REGION)
    for (let time = 0; time < 5; time += 1) {
      await page.keyboard.press('Enter')
      await elapse(page, 600)
    }
    await readCard(page, 'Which store?')
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0)
    expect(await isPending()).toBe(true)
  })

  test('Enter on an option that Tab merely came to answers nothing', async () => {
    const { page, isPending } = await opened(DB)
    await page.getByRole('radio').first().focus()
    await page.keyboard.press('Enter')
    await page.getByText('Choose an option or write an answer first').waitFor()
    expect(await isPending()).toBe(true)
  })

  test('Enter in an empty answer of one’s own stays there, and what is typed next is that answer', async () => {
    const { page, inbox, id } = await opened(DB)
    await page.keyboard.press('3')
    await page.keyboard.press('Enter')
    await page.keyboard.type('use v2 please')
    await page.keyboard.press('Enter')
    const { answer } = await inbox.ending(id)
    expect(answer).toEqual({ answers: [{ id: 'db', selected: [], custom: 'use v2 please' }] })
  })

  test('Escape that is held down declines nothing', async () => {
    const { page, isPending } = await opened(DB)
    await hold(page, 'Escape', 40)
    expect(await isPending()).toBe(true)
  })

  test('another key takes back what a second Escape would have done, and says so', async () => {
    const { page, isPending } = await opened(DB)
    await page.keyboard.press('Escape')
    await page.getByText('Esc again to decline to answer').waitFor()
    await page.keyboard.press('x')
    expect(await page.getByText('Esc again').count()).toBe(0)
    await page.keyboard.press('Escape')
    expect(await isPending()).toBe(true)
  })
})

describe('texts that were not made for a page', () => {
  test.for([
    ['quotes within quotes', '> '.repeat(2_000)],
    ['marks that never close', '~~a *b _c '.repeat(5_000)],
    ['lists within lists', Array.from({ length: 300 }, (_, depth) => `${'  '.repeat(depth)}- x`).join('\n')],
  ] as const)('%s are shown, and the question under them can be answered', async ([, detail]) => {
    const { page, inbox, id } = await opened({ ...DB, detail: `${detail}the end` })
    await page.getByText('the end').waitFor()
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    expect(await inbox.ending(id)).toMatchObject({ outcome: 'answered' })
  })

  test.for([320, 640, 1_280])(
    'a word longer than %i pixels is wrapped, and every button stays in sight',
    async width => {
      const word = `https://example.test/${'a'.repeat(2_000)}`
      const inbox = await servePage()
      await inbox.ask([
        {
          ...DB,
          question: word,
          header: word,
          detail: `${word}\n\n\`${word}\``,
          options: [{ label: word, description: word }],
        },
      ])
      const page = await openPage(inbox.url(), { viewport: { width, height: 700 } })
      await page.getByRole('button', { name: 'Send' }).waitFor()
      const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
      expect(widths[0]).toBeLessThanOrEqual(widths[1]!)
    },
  )
})

describe('a stream that does not work', () => {
  test('is tried ever more seldom, and is not called connected', async () => {
    const inbox = await servePage()
    await inbox.ask([DB])
    let tries = 0
    const page = await openPage(inbox.url())
    await readCard(page, 'Which store?')
    await page.route('**/api/events', route => {
      tries += 1
      return route.fulfill({ status: 200, contentType: 'text/html', body: '<p>hello</p>' })
    })
    await page.reload()
    await page.getByText('Offline.').first().waitFor()
    await page.waitForTimeout(3_000)
    expect(tries).toBeLessThan(8)
    expect(await page.getByText('Connected', { exact: true }).count()).toBe(0)
  })
})

describe('what was typed', () => {
  test('for a request that is settled elsewhere can be read in the history, also after a reload', async () => {
    const { page, inbox, id } = await opened(NAME)
    await page.keyboard.type('ledger')
    await inbox.answerUnseen(id, 'archive')
    await page.getByText('What you had written here was not sent:').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'History' }).click()
    await page.getByText('What you had written here was not sent:').waitFor()
    await page.getByText('ledger').waitFor()
  })

  test('on one page is there on another that nobody looks at, and is not said to be lost once it is sent', async () => {
    const { page, inbox, id } = await opened(NAME)
    const other = await openPage(inbox.url(), {
      beside: page,
      // Only one page has the focus of a browser; here both say they have it.
      init: () => (document.hasFocus = () => false),
    })
    await readCard(other, 'What should the service be called?')
    await page.bringToFront()
    await page.keyboard.type('ledger')
    await expect.poll(() => other.getByRole('textbox', { name: 'Your answer' }).inputValue()).toBe('ledger')
    await page.keyboard.press('Enter')
    await inbox.ending(id)
    await other.getByText('Answered on web').first().waitFor()
    expect(await other.getByText('What you had written here was not sent').count()).toBe(0)
  })
})

describe('a token', () => {
  test('that could not even be sent is asked for again, with the focus where it is entered', async () => {
    const inbox = await servePage()
    const page = await openPage(`${inbox.url()}%E2%80%8F`)
    await page.getByText('This page needs its token').waitFor()
    await expect.poll(() => focused(page)).toMatch(/^textbox: Token/u)
    await page.keyboard.type('“nonsense”')
    await page.keyboard.press('Enter')
    await page.getByText('The server does not know this token.').waitFor()
  })
})

test('a lost connection that came back is not said to be lost any more', async () => {
  const inbox = await servePage()
  const page = await openPage(inbox.url(), { allow: [UNREACHABLE] })
  await page.getByText('Connected').waitFor()
  await inbox.stop()
  await page.getByText('Offline.').first().waitFor()
  await inbox.start()
  await expect.poll(() => page.getByRole('status').last().textContent()).toBe('Online again')
})

test('a request that came up by itself takes no key before it could be read, whatever was typed for it before', async () => {
  const inbox = await servePage()
  const first = await inbox.ask([DB])
  const second = await inbox.ask([NAME])
  const page = await openPage(inbox.url())
  await page.getByRole('button', { name: /What should the service/u }).click()
  await readCard(page, 'What should the service be called?')
  await page.keyboard.type('led')
  await page.getByRole('button', { name: /Which store/u }).click()
  await readCard(page, 'Which store?')
  await page.keyboard.press('1')
  await page.keyboard.press('Enter')
  await inbox.ending(first)
  await page.getByRole('region', { name: 'What should the service be called?' }).waitFor()
  await page.keyboard.press('Enter')
  expect((await inbox.client.get(second)).settlement).toBeUndefined()
  await elapse(page, ARMED_MS)
  await page.keyboard.press('Enter')
  expect(await inbox.ending(second)).toMatchObject({ outcome: 'answered' })
})
