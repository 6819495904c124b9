import {
  describeSubject,
  UserApprovalService,
  type ApprovalOutcome,
  type ApprovalRequest,
} from '@handraise/user-approvals'
import { describe, expect, test } from 'vitest'
import { axe, focused, openPage, readCard, useChromium, type Locator, type Page } from './browser.ts'
import { servePage } from './served-page.ts'

useChromium()

const PATH = '/tmp/handraise-never-made'
const CREATE: ApprovalRequest = {
  toolName: 'write_file',
  session: 's1',
  subject: { kind: 'fileAccess', access: 'create', path: PATH },
}
const TITLE = `Allow write_file: create ${PATH}?`
const RULE = `write_file: create exactly: ${PATH}`
const LONG = Array.from({ length: 700 }, (_, index) => `word${String(index).padStart(3, '0')}`)

/** A served inbox whose host asks for permission, with the page open on it. */
async function asked(request: ApprovalRequest = CREATE, title: string | RegExp = TITLE) {
  const inbox = await servePage()
  const { ctx } = inbox.served
  await ctx.plugin(UserApprovalService)
  const ask = (more: ApprovalRequest): Promise<ApprovalOutcome> => ctx.userApprovals.request(more)
  const outcome = ask(request)
  const page = await openPage(inbox.url(), { init: stoppable })
  const card = await readCard(page, title)
  const pending = async () => (await inbox.client.list()).requests
  return { inbox, ctx, page, card, outcome, ask, pending }
}

// What the page takes for the time can be stopped, so that a slow machine is as early as a fast one.
function stoppable(): void {
  const now = performance.now.bind(performance)
  let stoppedAt: number | undefined
  performance.now = () => stoppedAt ?? now()
  Object.assign(globalThis, { stopTime: (stop: boolean) => (stoppedAt = stop ? now() : undefined) })
}

const stopTime = (page: Page, stop: boolean): Promise<void> =>
  page.evaluate(stops => (globalThis as unknown as { stopTime(stop: boolean): void }).stopTime(stops), stop)

const buttons = (card: Locator): Promise<string[]> =>
  card
    .locator('[data-choice]')
    .evaluateAll(all => all.map(each => each.querySelector('bdi')?.textContent ?? ''))
const subject = (card: Locator): Locator => card.getByRole('region', { name: 'What would be done' })
const words = (card: Locator): Locator => card.getByRole('textbox', { name: 'Why not' })
const press = (within: Locator | Page, name: string): Promise<void> =>
  within.getByRole('button', { name, exact: true }).click()
const hint = (card: Locator): Locator => card.locator('.hint')

describe('an approval on the page', () => {
  test('offers its choices in their order, each with the rule that it would make word for word', async () => {
    const { card } = await asked()
    expect(await buttons(card)).toEqual(['Allow once', 'Allow for this session', 'Always allow', 'Deny'])
    expect(
      await card.locator('.choice').evaluateAll(all => all.map(each => each.lastElementChild?.textContent)),
    ).toEqual(['1Allow once', RULE, RULE, '4Deny'])
    // No choice stands out from the others.
    expect(await card.locator('.primary').count()).toBe(0)
  })

  test('has nothing in focus, and Enter and Space alone do nothing, however often', async () => {
    const { page, card, pending } = await asked()
    await expect.poll(() => focused(page)).toBe(`heading: ${TITLE}`)
    for (const key of ['Enter', 'Enter', 'Enter', 'Space', 'Space', 'Control+Enter'])
      await page.keyboard.press(key)
    await page.keyboard.down('Enter')
    // Held down, it comes again and again.
    for (let again = 0; again < 5; again += 1) await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    expect(await focused(page)).toBe(`heading: ${TITLE}`)
    expect(await hint(card).textContent()).toBe('')
    expect(await pending()).toHaveLength(1)
  })

  test('is moved through by numbers, which decide nothing, and decided by the key after', async () => {
    const { page, card, pending, outcome, ask } = await asked()
    await page.keyboard.press('4')
    await expect.poll(() => focused(page)).toBe('button: Deny')
    await page.keyboard.press('9')
    await page.keyboard.press('0')
    expect(await focused(page)).toBe('button: Deny')
    await page.keyboard.press('2')
    await expect.poll(() => focused(page)).toBe('button: Allow for this session')
    expect(await pending()).toHaveLength(1)
    await page.keyboard.press('Space')
    expect(await outcome).toMatchObject({
      decision: 'approvedForSession',
      policyResult: 'allow',
      resolvedBy: 'user',
      amendment: { durability: 'session', rulePreview: RULE },
    })
    await card.waitFor({ state: 'detached' })
    // What it remembers covers the next one, about which nobody is asked.
    expect(await ask(CREATE)).toMatchObject({ policyResult: 'allow', resolvedBy: 'policy' })
  })

  test('is denied by its button alone', async () => {
    const { card, outcome } = await asked()
    await press(card, 'Deny')
    expect(await outcome).toMatchObject({ decision: 'denied', policyResult: 'deny', resolvedBy: 'user' })
    expect(await outcome).not.toHaveProperty('feedback')
  })

  test.each(['the button', 'Enter'])('is denied with words by %s, which the agent gets', async by => {
    const { card, outcome, page } = await asked()
    await words(card).fill('not in the temporary\ndirectory')
    if (by === 'Enter') await page.keyboard.press('Enter')
    else await press(card, 'Deny, with these words')
    expect(await outcome).toMatchObject({
      decision: 'denied',
      policyResult: 'deny',
      feedback: 'not in the temporary\ndirectory',
    })
  })

  test('is not denied with words when there are none', async () => {
    const { card, page, pending } = await asked()
    await press(card, 'Deny, with these words')
    expect(await hint(card).textContent()).not.toBe('')
    await words(card).focus()
    await page.keyboard.press('Enter')
    expect(await pending()).toHaveLength(1)
  })

  test('takes words with no other choice: it says where they go, and loses none of them', async () => {
    const { card, pending, outcome } = await asked()
    await words(card).fill('only this once')
    for (const choice of await buttons(card)) {
      await press(card, choice)
      expect(await hint(card).textContent()).toContain('goes only with “Deny, with these words”')
      expect(await words(card).inputValue()).toBe('only this once')
    }
    expect(await pending()).toHaveLength(1)
    await words(card).fill('')
    await press(card, 'Allow once')
    expect(await outcome).toMatchObject({ decision: 'approved', scope: 'once' })
  })

  test('takes digits in the words for text', async () => {
    const { card, page, outcome } = await asked()
    await words(card).focus()
    await page.keyboard.type('1 of 4')
    await page.keyboard.press('Enter')
    expect(await outcome).toMatchObject({ policyResult: 'deny', feedback: '1 of 4' })
  })

  test('shows its subject to the letter: no Markdown, no link, no HTML, nothing hidden', async () => {
    const input = {
      text: '**bold** [link](https://example.test) <b onclick=alert(1)>x</b> <img src=x> `code` # head &amp;',
      hidden: 'a\u202eb\u200bc\u001b[2Kd  e',
    }
    const of = { kind: 'tool', toolName: 'deploy', input } as const
    const { card } = await asked(
      { ...CREATE, subject: of, reason: '**trust** <b>me</b>' },
      /^Allow write_file: deploy /u,
    )
    const shown = await subject(card).textContent()
    expect(shown?.split('\n').slice(0, describeSubject(of).length)).toEqual(describeSubject(of))
    expect(shown).toContain('a<U+202E>b<U+200B>c')
    expect(shown).toContain('**trust** <b>me</b>')
    expect(await card.locator('a, img, strong, em, code, b').count()).toBe(0)
    // Blanks stay blanks, and no line is cut off at the side.
    expect(await subject(card).evaluate(pre => pre.scrollWidth <= pre.clientWidth)).toBe(true)
    expect(await subject(card).evaluate(pre => getComputedStyle(pre).whiteSpace)).toMatch(
      /pre-wrap|preserve/u,
    )
  })

  test('lets a long subject be read to its end with the keyboard alone', async () => {
    const command = `printf ${LONG.join(' ')}`
    expect(command.length).toBeGreaterThan(5_000)
    const { page, card } = await asked(
      { ...CREATE, subject: { kind: 'shell', command, cwd: '/tmp' } },
      /^Allow write_file: printf /u,
    )
    const shown = subject(card)
    expect((await shown.textContent())?.split('\n')).toEqual([
      'Run in a shell:',
      `| ${command}`,
      'In the directory: /tmp',
    ])
    const left = (): Promise<number> =>
      shown.evaluate(pre => Math.floor(pre.scrollHeight - pre.clientHeight - pre.scrollTop))
    expect(await left()).toBeGreaterThan(100)
    await page.keyboard.press('Tab')
    await expect.poll(() => focused(page)).toBe('region: What would be done')
    const before = await left()
    await page.keyboard.press('PageDown')
    await expect.poll(left).toBeLessThan(before)
    await page.keyboard.press('End')
    await expect.poll(left).toBeLessThanOrEqual(1)
    // And from there on to the choices.
    const reached: string[] = []
    for (let turn = 0; turn < 8; turn += 1) {
      await page.keyboard.press('Tab')
      reached.push(await focused(page))
    }
    expect(reached).toEqual(
      expect.arrayContaining([
        'textbox: Why not',
        'button: Allow once',
        'button: Deny',
        'button: Deny, with these words',
      ]),
    )
  })

  test('is whole for axe in light and dark, wide and narrow', async () => {
    const { page, card } = await asked(
      {
        ...CREATE,
        subject: { kind: 'shell', command: `printf ${LONG.join(' ')}`, cwd: '/tmp' },
        reason: 'The tests pass.',
      },
      /^Allow write_file: printf /u,
    )
    await words(card).fill('not now')
    await press(card, 'Allow once')
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const width of [1_000, 360]) {
        await page.setViewportSize({ width, height: 720 })
        expect(await axe(page), `${colorScheme}, ${width} wide`).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
      }
    }
  })

  test('is taken down when it is answered elsewhere, and says where and how', async () => {
    const { inbox, card, pending } = await asked()
    const [request] = await pending()
    await inbox.client.answer(request!.id, 'not from here', { surface: 'terminal' })
    await card.getByText('Answered on terminal').waitFor()
    expect(await card.locator('.chosen').allTextContents()).toEqual(['Deny, and say why'])
    expect(await card.locator('q').allTextContents()).toEqual(['not from here'])
    expect(await card.locator('[data-choice]').count()).toBe(0)
  })

  test('stands in the history with the choice that was taken, and the words that went with it', async () => {
    const { page, card, ask } = await asked()
    await press(card, 'Always allow')
    await card.waitFor({ state: 'detached' })
    const other = ask({ ...CREATE, subject: { kind: 'fileAccess', access: 'delete', path: PATH } })
    const second = await readCard(page, `Allow write_file: delete ${PATH}?`)
    await words(second).fill('keep **it**')
    await press(second, 'Deny, with these words')
    await other
    await press(page, 'History')
    const entries = page.locator('.history li')
    await expect.poll(() => entries.count()).toBe(2)
    expect(await entries.locator('dt').allTextContents()).toEqual([
      `Allow write_file: delete ${PATH}?`,
      TITLE,
    ])
    expect(await entries.locator('.chosen').allTextContents()).toEqual(['Deny, and say why', 'Always allow'])
    expect(await entries.locator('q').allTextContents()).toEqual(['keep **it**'])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await axe(page)).toEqual([])
    }
  })
})

describe('an approval of a command with several stages', () => {
  const PIPE: ApprovalRequest = {
    ...CREATE,
    toolName: 'shell',
    subject: { kind: 'shell', command: 'git log | head -3', cwd: '/tmp' },
  }

  test('comes up step by step by itself, and no key meant for the first step decides the second', async () => {
    const { page, pending, outcome } = await asked(PIPE, /^Step 1 of 2: allow shell: git log/u)
    await page.keyboard.press('1')
    await stopTime(page, true)
    // It takes no time at all from here to the click on what came up.
    await page.keyboard.press('Space')
    const second = page.getByRole('region', { name: /^Step 2 of 2: allow shell: head -3/u })
    await second.waitFor()
    for (const key of ['1', 'Space', 'Enter']) await page.keyboard.press(key)
    expect(await focused(page)).toMatch(/^heading: Step 2 of 2/u)
    await second.getByRole('button', { name: 'Allow once' }).click()
    expect(await pending()).toHaveLength(1)

    await stopTime(page, false)
    const card = await readCard(page, /^Step 2 of 2: allow shell: head -3/u)
    // The whole command stands above the stage that is asked about.
    expect(await subject(card).textContent()).toContain('| git log | head -3')
    await page.keyboard.press('1')
    await expect.poll(() => focused(page)).toBe('button: Allow once')
    expect(await pending()).toHaveLength(1)
    await page.keyboard.press('Space')
    expect(await outcome).toMatchObject({ policyResult: 'allow', requirements: [{ index: 0 }, { index: 1 }] })
    await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
  })

  test('ends with the first step that is denied', async () => {
    const { page, card, outcome } = await asked(PIPE, /^Step 1 of 2: allow shell: git log/u)
    await words(card).fill('show me the log first')
    await press(card, 'Deny, with these words')
    expect(await outcome).toMatchObject({
      policyResult: 'deny',
      feedback: 'show me the log first',
      requirements: [{ index: 0 }],
    })
    await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
  })
})
