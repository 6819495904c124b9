import { describe, expect, test } from 'vitest'
import { readCard, openPage, useChromium, type Page } from './browser.ts'
import { CHECKS, NAME, PLAN, REGION } from './questions.ts'
import { DB, servePage } from './served-page.ts'

useChromium()

async function opened(...questions: Parameters<Awaited<ReturnType<typeof servePage>>['ask']>[0] & object) {
  const inbox = await servePage()
  const id = await inbox.ask(questions)
  const page = await openPage(inbox.url())
  await readCard(page, questions[0]!.question)
  const answers = async () => {
    const { answer } = await inbox.ending(id)
    return (answer as { answers: unknown[] }).answers
  }
  return { inbox, id, page, answers }
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const text = (page: Page, shown: string) => page.getByText(shown, { exact: true }).click()
const own = (page: Page) => page.getByRole('textbox', { name: 'Type your own answer' })

describe('what is sent', () => {
  test('is what is ticked in the end, however often a box was clicked', async () => {
    const { inbox, id, page, answers } = await opened(CHECKS)
    await text(page, 'Lint')
    await text(page, 'Types')
    await text(page, 'Lint')
    expect((await inbox.client.get(id)).settlement).toBeUndefined()
    await press(page, 'Send')
    expect(await answers()).toEqual([{ id: 'checks', selected: ['Types'] }])
  })

  test('is in the order of the options, whatever the order of the clicks', async () => {
    const { page, answers } = await opened(CHECKS)
    for (const label of ['Tests', 'Types', 'Lint']) await text(page, label)
    await press(page, 'Send')
    expect(await answers()).toEqual([{ id: 'checks', selected: ['Lint', 'Types', 'Tests (Recommended)'] }])
  })

  test('is one label where the label holds a comma', async () => {
    const question = {
      id: 'ask',
      question: 'Ask again?',
      multiSelect: true,
      options: [{ label: 'Yes, always' }, { label: 'Yes' }, { label: 'always' }],
    }
    const { page, answers } = await opened(question)
    await text(page, 'Yes, always')
    await press(page, 'Send')
    expect(await answers()).toEqual([{ id: 'ask', selected: ['Yes, always'] }])
    await press(page, 'History')
    await page.getByText('Yes, always', { exact: true }).waitFor()
  })

  test('is the label as it was offered, though the badge takes its suffix', async () => {
    const { page, answers } = await opened(REGION)
    expect(await page.getByRole('radio', { name: 'Virginia Recommended' }).count()).toBe(1)
    expect(await page.getByText('(Recommended)').count()).toBe(0)
    await text(page, 'Virginia')
    await press(page, 'Send')
    expect(await answers()).toEqual([{ id: 'region', selected: ['Virginia (Recommended)'] }])
  })

  test('holds the ticks and the text of one’s own, on a question that takes several', async () => {
    const { page, answers } = await opened(CHECKS)
    await text(page, 'Lint')
    await own(page).fill('also docs, please')
    await press(page, 'Send')
    expect(await answers()).toEqual([{ id: 'checks', selected: ['Lint'], custom: 'also docs, please' }])
  })

  test('holds a note beside the choice', async () => {
    const { page, answers } = await opened(DB)
    await text(page, 'Postgres')
    await text(page, 'Add a note')
    await page.getByRole('textbox', { name: 'A note beside your choice' }).fill('version 18')
    await press(page, 'Send')
    expect(await answers()).toEqual([{ id: 'db', selected: ['Postgres'], note: 'version 18' }])
  })

  test('of a choice and a text of one’s own is whichever came last, and the other is kept at hand', async () => {
    const { page, answers } = await opened(DB)
    await text(page, 'Postgres')
    await own(page).fill('Maria')
    expect(await page.getByRole('radio', { checked: true }).getAttribute('aria-label')).toBe(
      'Type your own answer',
    )
    await text(page, 'SQLite')
    expect(await own(page).inputValue()).toBe('Maria')
    await press(page, 'Send')
    await page.getByText('What you wrote is not part of this answer').waitFor()
    await press(page, 'Send')
    expect(await answers()).toEqual([{ id: 'db', selected: ['SQLite'] }])
  })
})

describe('the row for an answer of one’s own', () => {
  test('without a text is no answer; its own name never is one', async () => {
    const { inbox, id, page, answers } = await opened(DB)
    await page.getByRole('radio', { name: 'Type your own answer' }).click()
    await press(page, 'Send')
    await page.getByText('Choose an option or write an answer first, or skip the question').waitFor()
    expect((await inbox.client.get(id)).settlement).toBeUndefined()
    await own(page).fill('x')
    await press(page, 'Send')
    expect(await answers()).toEqual([{ id: 'db', selected: [], custom: 'x' }])
  })

  test('is the one called Other, when the asker offered it, and there are not two', async () => {
    const options = ['A', 'Other', 'Something else', 'Other (please specify)'].map(label => ({ label }))
    const { page, answers } = await opened({ id: 'q', question: 'Which?', options })
    expect(await page.getByRole('radio').count()).toBe(4)
    expect(await page.getByRole('radio', { name: 'Something else' }).count()).toBe(1)
    expect(await page.getByRole('radio', { name: 'Other (please specify)' }).count()).toBe(1)
    await page.getByRole('textbox', { name: 'Other: type your own answer' }).fill('B')
    await press(page, 'Send')
    expect(await answers()).toEqual([{ id: 'q', selected: [], custom: 'B' }])
  })

  test('is not there beside a question without options, which is a text as a whole', async () => {
    const { page, answers } = await opened(NAME)
    expect(await page.getByRole('radio').count()).toBe(0)
    await press(page, 'Send')
    await page.getByText('Write something first').waitFor()
    await page.getByRole('textbox', { name: 'Your answer' }).fill('ledger')
    await press(page, 'Send')
    expect(await answers()).toEqual([{ id: 'name', selected: [], custom: 'ledger' }])
  })
})

describe('several questions', () => {
  test('are reviewed before they are sent, and changed from there', async () => {
    const { inbox, id, page, answers } = await opened(DB, REGION)
    await text(page, 'Postgres')
    await press(page, 'Next')
    await readCard(page, 'Where should it run?')
    await press(page, 'Skip')
    await readCard(page, 'Your answers')
    await page.getByText('1 of 2 answered').waitFor()
    await page.getByText('Skipped').waitFor()
    expect((await inbox.client.get(id)).settlement).toBeUndefined()
    await press(page, 'Change Region')
    await readCard(page, 'Where should it run?')
    await text(page, 'Tokyo')
    await press(page, 'Next')
    await readCard(page, 'Your answers')
    await page.getByText('2 of 2 answered').waitFor()
    await press(page, 'Send answers')
    expect(await answers()).toEqual([
      { id: 'db', selected: ['Postgres'] },
      { id: 'region', selected: ['Tokyo'] },
    ])
  })

  test('are gone through in any order by the steps above them', async () => {
    const { page } = await opened(DB, REGION, NAME)
    await page.getByRole('button', { name: 'Question 3 of 3, Name' }).click()
    await readCard(page, 'What should the service be called?')
    await press(page, 'Back')
    await readCard(page, 'Where should it run?')
    await press(page, 'Review')
    await readCard(page, 'Your answers')
    await page.getByText('0 of 3 answered').waitFor()
  })

  test('keep what was typed in each while one goes back and forth', async () => {
    const { page, answers } = await opened(DB, REGION)
    await own(page).fill('alpha')
    await press(page, 'Next')
    await readCard(page, 'Where should it run?')
    await own(page).fill('be')
    await press(page, 'Back')
    await readCard(page, 'Which store?')
    expect(await own(page).inputValue()).toBe('alpha')
    expect(await page.getByRole('radio', { name: 'Type your own answer' }).isChecked()).toBe(true)
    await press(page, 'Next')
    await readCard(page, 'Where should it run?')
    expect(await own(page).inputValue()).toBe('be')
    await own(page).fill('beta')
    await press(page, 'Next')
    await readCard(page, 'Your answers')
    await press(page, 'Send answers')
    expect(await answers()).toEqual([
      { id: 'db', selected: [], custom: 'alpha' },
      { id: 'region', selected: [], custom: 'beta' },
    ])
  })

  test.for([
    { least: undefined, said: 'Will be skipped', count: '1 of 2 answered' },
    { least: 0, said: 'None chosen', count: '1 of 2 answered' },
  ])('left untouched with a least number of $least are said to be: $said', async ({ least, said, count }) => {
    const several = { ...CHECKS, ...(least === undefined ? {} : { minSelections: least }) }
    const { page, answers } = await opened(DB, several)
    await text(page, 'Postgres')
    await press(page, 'Review')
    await readCard(page, 'Your answers')
    await page.getByText(count).waitFor()
    await page.getByText(said, { exact: true }).waitFor()
    await press(page, 'Send answers')
    expect(await answers()).toEqual([
      { id: 'db', selected: ['Postgres'] },
      { id: 'checks', selected: [] },
    ])
    await press(page, 'History')
    await page.getByText(least === 0 ? 'None chosen' : 'Skipped', { exact: true }).waitFor()
  })

  test('are not sent while one of them must be answered: the page goes there and says why', async () => {
    const { inbox, id, page, answers } = await opened(DB, { ...CHECKS, minSelections: 1 })
    await text(page, 'Postgres')
    await press(page, 'Review')
    await readCard(page, 'Your answers')
    await page.getByText('Choose at least 1').waitFor()
    await press(page, 'Send answers')
    const card = await readCard(page, 'Which checks should run?')
    expect(await card.locator('.hint').textContent()).toBe('Choose at least 1')
    expect((await inbox.client.get(id)).settlement).toBeUndefined()
    expect(await page.evaluate(() => document.activeElement?.closest('.card') !== null)).toBe(true)
    await text(page, 'Types')
    await press(page, 'Next')
    await readCard(page, 'Your answers')
    await press(page, 'Send answers')
    expect(await answers()).toEqual([
      { id: 'db', selected: ['Postgres'] },
      { id: 'checks', selected: ['Types'] },
    ])
  })
})

describe('limits of a choice', () => {
  test('are said beside the options, and kept to', async () => {
    const { inbox, id, page, answers } = await opened({ ...CHECKS, minSelections: 1, maxSelections: 2 })
    await page.getByText('Choose 1 to 2').waitFor()
    for (const label of ['Lint', 'Types', 'Tests']) await text(page, label)
    await press(page, 'Send')
    await page.getByText('Choose at most 2').waitFor()
    expect((await inbox.client.get(id)).settlement).toBeUndefined()
    await text(page, 'Lint')
    await press(page, 'Send')
    expect(await answers()).toEqual([{ id: 'checks', selected: ['Types', 'Tests (Recommended)'] }])
  })

  test('keep a question that must be answered from being skipped', async () => {
    const { inbox, id, page } = await opened({ ...CHECKS, minSelections: 1 })
    await press(page, 'Skip')
    await page.locator('.hint').getByText('Choose at least 1').waitFor()
    expect((await inbox.client.get(id)).settlement).toBeUndefined()
  })
})

describe('a plan', () => {
  test('is approved by its button, with the feedback beside it as a note', async () => {
    const { page, answers } = await opened(PLAN)
    await page.getByText('Plan review').waitFor()
    await page.getByRole('heading', { name: 'Move the sessions' }).waitFor()
    await page.getByRole('textbox', { name: 'Feedback' }).fill('not on a Friday')
    await page.getByRole('button', { name: /^1?\s*Approve\s*Recommended/u }).click()
    expect(await answers()).toEqual([
      { id: 'plan', selected: ['Approve (Recommended)'], note: 'not on a Friday' },
    ])
  })

  test('is answered by another option, or by feedback alone', async () => {
    const { page, answers } = await opened(PLAN)
    await page.getByRole('button', { name: /Stay in planning/u }).click()
    expect(await answers()).toEqual([{ id: 'plan', selected: ['Stay in planning'] }])
    const second = await opened(PLAN)
    await second.page.getByRole('textbox', { name: 'Feedback' }).fill('smaller steps')
    await press(second.page, 'Send feedback only')
    expect(await second.answers()).toEqual([{ id: 'plan', selected: [], custom: 'smaller steps' }])
  })

  test('is not approved by a digit alone, nor by Enter where nothing is chosen', async () => {
    const { inbox, id, page, answers } = await opened(PLAN)
    await page.keyboard.press('Enter')
    await page.keyboard.press('1')
    expect((await inbox.client.get(id)).settlement).toBeUndefined()
    await page.keyboard.press('Enter')
    expect(await answers()).toEqual([{ id: 'plan', selected: ['Approve (Recommended)'] }])
  })

  test('with no feedback written says so instead of sending it', async () => {
    const { inbox, id, page } = await opened(PLAN)
    await press(page, 'Send feedback only')
    await page.getByText('Write something first').waitFor()
    expect((await inbox.client.get(id)).settlement).toBeUndefined()
  })
})

describe('leaving without an answer', () => {
  test.for([
    { way: 'Decline', outcome: 'declined' },
    { way: 'Dismiss', outcome: 'cancelled' },
    { way: 'Stop the turn', outcome: 'interrupted' },
  ])('$way ends it $outcome', async ({ way, outcome }) => {
    const { inbox, id, page } = await opened(DB)
    await press(page, 'Not answering…')
    await press(page, way)
    expect(await inbox.ending(id)).toMatchObject({ outcome, by: 'user', surface: 'web' })
  })

  test('writes back what the person says instead', async () => {
    const { inbox, id, page } = await opened(DB)
    await press(page, 'Not answering…')
    expect(await page.getByRole('button', { name: 'Write back' }).isDisabled()).toBe(true)
    await page
      .getByRole('textbox', { name: 'What you want to say' })
      .fill('wait, explain the difference first')
    await press(page, 'Write back')
    expect(await inbox.ending(id)).toMatchObject({
      outcome: 'clarified',
      text: 'wait, explain the difference first',
    })
  })

  test('takes along what was answered when the turn is stopped', async () => {
    const { inbox, id, page } = await opened(DB, REGION)
    await text(page, 'Postgres')
    await press(page, 'Not answering…')
    await page.getByText('Decide nothing more; what is answered (1) goes along.').waitFor()
    await press(page, 'Stop the turn')
    expect(await inbox.ending(id)).toMatchObject({
      outcome: 'interrupted',
      answer: { answers: [{ id: 'db', selected: ['Postgres'] }] },
    })
  })
})

test('requests are listed by session, the oldest first, and the next comes up when one is answered', async () => {
  const inbox = await servePage()
  const first = await inbox.ask([DB], { session: 'blue' })
  await inbox.ask([REGION], { session: 'green' })
  await inbox.ask([NAME], { session: 'blue' })
  const page = await openPage(inbox.url())
  await readCard(page, 'Which store?')
  const list = page.getByRole('navigation', { name: 'Waiting' })
  expect(await list.getByRole('heading').allTextContents()).toEqual(['blue', 'green'])
  const listed = await list.getByRole('button').allInnerTexts()
  expect(listed.map(entry => entry.split('\n')[0])).toEqual([
    'Which store?',
    'What should the service be called?',
    'Where should it run?',
  ])
  await page.keyboard.press('1')
  await page.keyboard.press('Enter')
  await inbox.ending(first)
  await readCard(page, 'Where should it run?')
  expect(await list.getByRole('button').count()).toBe(2)
})

test('a request of a kind that nobody here knows is shown as such, and does not stand before those that can be answered', async () => {
  const inbox = await servePage()
  await inbox.served.inbox.open({ kind: 'launch', payload: { pad: 3 } })
  await inbox.ask([DB])
  await inbox.ask([REGION])
  const page = await openPage(inbox.url())
  await page.getByRole('button', { name: /Which store/u }).click()
  await readCard(page, 'Which store?')
  await page.keyboard.press('1')
  await page.keyboard.press('Enter')
  await readCard(page, 'Where should it run?')
  await page.getByRole('button', { name: /launch/u }).click()
  await page.getByText('Nothing on this server knows how to answer a request of the kind “launch”.').waitFor()
})
