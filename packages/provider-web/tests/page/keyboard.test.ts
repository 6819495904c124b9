import { describe, expect, test } from 'vitest'
import { ARMED_MS, readCard, focused, openPage, useChromium, type Page } from './browser.ts'
import { CHECKS, NAME, REGION } from './questions.ts'
import { DB, servePage } from './served-page.ts'

useChromium()

const hint = (page: Page) => page.locator('.card .hint')

async function opened(...questions: Parameters<Awaited<ReturnType<typeof servePage>>['ask']>[0] & object) {
  const inbox = await servePage()
  const id = await inbox.ask(questions)
  const page = await openPage(inbox.url())
  const card = await readCard(page, questions[0]!.question)
  const isPending = async () => (await inbox.client.get(id)).settlement === undefined
  const answers = async () => {
    const { answer } = await inbox.ending(id)
    return (answer as { answers: unknown[] }).answers
  }
  return { inbox, id, page, card, isPending, answers }
}

describe('the keyboard alone', () => {
  test('is enough from the first question to what is sent', async () => {
    const { page, answers } = await opened(REGION, CHECKS, NAME)
    await expect.poll(() => focused(page)).toBe('heading: Where should it run?')
    await page.keyboard.press('2')
    await page.keyboard.press('Enter')
    await readCard(page, 'Which checks should run?')
    await expect.poll(() => focused(page)).toBe('heading: Which checks should run?')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await readCard(page, 'What should the service be called?')
    await expect.poll(() => focused(page)).toBe('textbox: Your answer')
    await page.keyboard.type('ledger')
    await page.keyboard.press('Enter')
    await readCard(page, 'Your answers')
    await expect.poll(() => focused(page)).toBe('heading: Your answers')
    await page.keyboard.press('Enter')
    expect(await answers()).toEqual([
      { id: 'region', selected: ['Virginia (Recommended)'] },
      { id: 'checks', selected: ['Lint', 'Tests (Recommended)'] },
      { id: 'name', selected: [], custom: 'ledger' },
    ])
  })

  test('reaches the plan, the ways to leave, the history and the list by Tab', async () => {
    const { page } = await opened(DB)
    const reached: string[] = []
    for (let turn = 0; turn < 14; turn += 1) {
      await page.keyboard.press('Tab')
      reached.push(await focused(page))
    }
    expect(reached).toEqual(
      expect.arrayContaining([
        'radio: Postgres',
        'textbox: Type your own answer',
        'button: Send',
        'button: Skip',
        'button: Not answering…',
        'button: History',
        'combobox: Language',
      ]),
    )
  })
})

describe('arrows and digits', () => {
  test('arrows move, choose nothing, and stop at the ends', async () => {
    const { page, card } = await opened(REGION)
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => focused(page)).toBe('radio: Type your own answer')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toBe('radio: Type your own answer')
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => focused(page)).toBe('radio: Frankfurt')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toBe('radio: Virginia Recommended')
    expect(await card.getByRole('radio', { checked: true }).count()).toBe(0)
  })

  test('a digit chooses the row it stands beside, and the one after the options is the text of one’s own', async () => {
    const { page, card, answers } = await opened(REGION)
    await page.keyboard.press('3')
    expect(await card.getByRole('radio', { checked: true }).getAttribute('aria-labelledby')).toMatch(
      /-2-label$/u,
    )
    await page.keyboard.press('9')
    await expect.poll(() => focused(page)).toBe('radio: Tokyo')
    await page.keyboard.press('4')
    await expect.poll(() => focused(page)).toBe('textbox: Type your own answer')
    await page.keyboard.type('4 of them')
    await page.keyboard.press('Enter')
    expect(await answers()).toEqual([{ id: 'region', selected: [], custom: '4 of them' }])
  })

  test('with ten rows and more, two digits are one number, and nothing is chosen before Enter', async () => {
    const options = Array.from({ length: 12 }, (_, index) => ({ label: `Shard ${index + 1}` }))
    const { page, card, answers } = await opened({ id: 'shard', question: 'Which shard?', options })
    await page.keyboard.press('1')
    await expect.poll(() => focused(page)).toBe('radio: Shard 1')
    await page.keyboard.press('2')
    await expect.poll(() => focused(page)).toBe('radio: Shard 12')
    expect(await card.getByRole('radio', { checked: true }).count()).toBe(0)
    await page.keyboard.press('Enter')
    expect(await answers()).toEqual([{ id: 'shard', selected: ['Shard 12'] }])
  })

  test('keys with Control, Alt or Meta, and keys that mean nothing here, do nothing', async () => {
    const { page, card, isPending } = await opened(DB)
    for (const key of ['Control+o', 'Alt+1', 'Meta+2', 'Control+Enter', 'F8', 'x', '0', '-'])
      await page.keyboard.press(key)
    expect(await card.getByRole('radio', { checked: true }).count()).toBe(0)
    expect(await hint(page).textContent()).toBe('')
    expect(await isPending()).toBe(true)
  })

  test('keys count after a click beside the options, as well', async () => {
    const { page, card, answers } = await opened(DB)
    await card.locator('header').click()
    await page.keyboard.press('2')
    await expect.poll(() => focused(page)).toBe('radio: SQLite')
    await card.locator('header').click()
    await page.keyboard.press('Enter')
    expect(await answers()).toEqual([{ id: 'db', selected: ['SQLite'] }])
  })

  test('Enter takes the option in focus when none is chosen', async () => {
    const { page, answers } = await opened(DB)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await answers()).toEqual([{ id: 'db', selected: ['SQLite'] }])
  })

  test('Enter on another option than the chosen one never sends the chosen one unseen', async () => {
    const { page, isPending, inbox, id } = await opened(DB)
    await page.keyboard.press('1')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toBe('radio: SQLite')
    await page.keyboard.press('Enter')
    // Either it takes the one in focus, or it does nothing.
    if (!(await isPending())) {
      expect((await inbox.client.get(id)).settlement?.answer).toEqual({
        answers: [{ id: 'db', selected: ['SQLite'] }],
      })
    }
  })

  test('a guarded question has nothing chosen or in focus to choose, and Enter alone does nothing', async () => {
    const { page, card, isPending, answers } = await opened({
      id: 'drop',
      question: 'Drop the table?',
      guarded: true,
      options: [{ label: 'Drop it' }, { label: 'Keep it' }],
    })
    await expect.poll(() => focused(page)).toBe('heading: Drop the table?')
    await page.keyboard.press('Enter')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await card.getByRole('radio', { checked: true }).count()).toBe(0)
    expect(await isPending()).toBe(true)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    expect(await answers()).toEqual([{ id: 'drop', selected: ['Keep it'] }])
  })

  test('a key that is held down answers once, and not the next question with it', async () => {
    const { page, isPending } = await opened(REGION, DB)
    await page.keyboard.press('1')
    await page.keyboard.down('Enter')
    await readCard(page, 'Which store?')
    for (let turn = 0; turn < 5; turn += 1) await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    expect(await page.getByRole('heading', { level: 2 }).last().textContent()).toBe('Which store?')
    expect(await isPending()).toBe(true)
  })
})

describe('typing when a request opens', () => {
  const early = ['Enter', 'Space', 'y', '1']

  test('keys and clicks of the first half second do not answer, and select nothing', async () => {
    const inbox = await servePage()
    const page = await openPage(inbox.url())
    await page.getByText('Nothing is waiting').waitFor()
    const id = await inbox.ask()
    await page.getByRole('radio', { name: 'Postgres' }).waitFor()
    for (const key of early) await page.keyboard.press(key)
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0)
    await page.waitForTimeout(ARMED_MS)
    expect((await inbox.client.get(id)).settlement).toBeUndefined()
    await page.keyboard.press('2')
    await page.keyboard.press('Enter')
    expect((await inbox.ending(id)).answer).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
  })

  test('clicks of the first half second do not, either', async () => {
    const inbox = await servePage()
    const page = await openPage(inbox.url())
    await page.getByText('Nothing is waiting').waitFor()
    const id = await inbox.ask()
    await page.getByRole('radio', { name: 'Postgres' }).waitFor()
    await page.getByText('Postgres', { exact: true }).click()
    await page.getByRole('button', { name: 'Skip' }).click()
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0)
    await page.waitForTimeout(ARMED_MS)
    expect((await inbox.client.get(id)).settlement).toBeUndefined()
    await page.getByText('SQLite', { exact: true }).click()
    await page.getByRole('button', { name: 'Send' }).click()
    expect((await inbox.ending(id)).answer).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
  })

  test('a second Enter after the answer is no answer to the next request, which comes up in its place', async () => {
    const { inbox, page, answers } = await opened(DB)
    const next = await inbox.ask([REGION])
    await page.getByRole('button', { name: /Where should it run/u }).waitFor()
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await page.getByRole('radio', { name: 'Frankfurt' }).waitFor()
    for (const key of ['1', 'Enter', 'Enter']) await page.keyboard.press(key)
    expect(await answers()).toEqual([{ id: 'db', selected: ['Postgres'] }])
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0)
    await page.waitForTimeout(ARMED_MS)
    expect((await inbox.client.get(next)).settlement).toBeUndefined()
  })

  test('a request that comes up by itself with a draft of earlier is not sent by keys of the first half second', async () => {
    const { inbox, page, answers } = await opened(DB)
    const next = await inbox.ask([REGION])
    await page.getByRole('button', { name: /Where should it run/u }).click()
    await readCard(page, 'Where should it run?')
    await page.keyboard.press('1')
    await page.getByRole('button', { name: /Which store/u }).click()
    await readCard(page, 'Which store?')
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await page.getByRole('radio', { name: 'Frankfurt' }).waitFor()
    await page.waitForTimeout(200)
    await page.keyboard.press('Enter')
    expect(await answers()).toEqual([{ id: 'db', selected: ['Postgres'] }])
    await page.waitForTimeout(ARMED_MS)
    expect((await inbox.client.get(next)).settlement).toBeUndefined()
  })
})

describe('composing characters', () => {
  test('Enter that ends a composition sends nothing, and Shift with Enter makes a new line', async () => {
    const { page, isPending, answers } = await opened(NAME)
    const field = page.getByRole('textbox', { name: 'Your answer' })
    await field.focus()
    const session = await page.context().newCDPSession(page)
    const enter = { key: 'Enter', code: 'Enter' } as const
    await session.send('Input.imeSetComposition', { text: 'にほん', selectionStart: 3, selectionEnd: 3 })
    await field.dispatchEvent('keydown', { ...enter, keyCode: 13, isComposing: true })
    await session.send('Input.insertText', { text: '日本' })
    // As Safari tells of the key that ended it, after it ended.
    await session.send('Input.dispatchKeyEvent', {
      type: 'rawKeyDown',
      ...enter,
      windowsVirtualKeyCode: 229,
      nativeVirtualKeyCode: 229,
    })
    expect(await field.inputValue()).toBe('日本')
    expect(await isPending()).toBe(true)
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('x')
    expect(await field.inputValue()).toBe('日本\nx')
    expect(await isPending()).toBe(true)
    await page.keyboard.press('Enter')
    expect(await answers()).toEqual([{ id: 'name', selected: [], custom: '日本\nx' }])
  })

  test('Escape that ends a composition takes nothing back and leaves nothing', async () => {
    const { page, isPending } = await opened(NAME)
    const field = page.getByRole('textbox', { name: 'Your answer' })
    await field.fill('kept')
    await field.dispatchEvent('keydown', { key: 'Escape', keyCode: 229, isComposing: true })
    await field.dispatchEvent('keydown', { key: 'Escape', keyCode: 229 })
    expect(await field.inputValue()).toBe('kept')
    expect(await hint(page).textContent()).toBe('')
    expect(await isPending()).toBe(true)
  })

  test('digits of a composition in the plan’s feedback are text', async () => {
    const { page, answers } = await opened({
      id: 'plan',
      question: 'This plan?',
      detail: 'Do it.',
      intent: { kind: 'plan-review', approve: 'Yes' },
      options: [{ label: 'Yes' }, { label: 'No' }],
    })
    const field = page.getByRole('textbox', { name: 'Feedback' })
    await field.focus()
    await field.dispatchEvent('keydown', { key: 'Enter', keyCode: 229, isComposing: true })
    await page.keyboard.type('1')
    expect(await field.inputValue()).toBe('1')
    await page.keyboard.press('Enter')
    expect(await answers()).toEqual([{ id: 'plan', selected: [], custom: '1' }])
  })
})

describe('Escape', () => {
  test('in a field with text clears the text, which the browser can bring back', async () => {
    const { page, isPending } = await opened(DB)
    const field = page.getByRole('textbox', { name: 'Type your own answer' })
    await field.click()
    await page.keyboard.type('Maria')
    await page.keyboard.press('Escape')
    expect(await field.inputValue()).toBe('')
    await expect.poll(() => focused(page)).toBe('textbox: Type your own answer')
    await page.keyboard.press('Control+z')
    expect(await field.inputValue()).toBe('Maria')
    expect(await isPending()).toBe(true)
  })

  test('in an empty field goes back to the list, then asks again before it declines', async () => {
    const { inbox, id, page, isPending } = await opened(DB)
    await page.getByRole('textbox', { name: 'Type your own answer' }).click()
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page)).toBe('heading: Which store?')
    expect(await hint(page).textContent()).toBe('')
    await page.keyboard.press('Escape')
    expect(await hint(page).textContent()).toBe('Esc again to decline to answer')
    expect(await isPending()).toBe(true)
    await page.keyboard.press('Escape')
    expect((await inbox.ending(id)).outcome).toBe('declined')
  })

  test('a second one later than two seconds, or after another key, is a first one again', async () => {
    const { page, isPending } = await opened(DB)
    await page.keyboard.press('Escape')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Escape')
    expect(await isPending()).toBe(true)
    await page.waitForTimeout(2_100)
    expect(await hint(page).textContent()).toBe('')
    await page.keyboard.press('Escape')
    expect(await hint(page).textContent()).toBe('Esc again to decline to answer')
    expect(await isPending()).toBe(true)
  })

  test('half-way says how many answers go along, and dismisses with them', async () => {
    const { inbox, id, page } = await opened(DB, REGION, NAME)
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await readCard(page, 'Where should it run?')
    await page.keyboard.press('3')
    await page.keyboard.press('Enter')
    await readCard(page, 'What should the service be called?')
    await page.keyboard.press('Escape')
    expect(await hint(page).textContent()).toBe(
      'Esc again to dismiss: 2 answered go along, 1 left unanswered',
    )
    await page.keyboard.press('Escape')
    expect(await inbox.ending(id)).toMatchObject({
      outcome: 'cancelled',
      by: 'user',
      answer: {
        answers: [
          { id: 'db', selected: ['Postgres'] },
          { id: 'region', selected: ['Tokyo'] },
        ],
      },
    })
  })
})
