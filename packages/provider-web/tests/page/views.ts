import { openPage, readCard, UNREACHABLE, type OpenOptions, type Page } from './browser.ts'
import { CHECKS, NAME, PLAN, REGION } from './questions.ts'
import { DB, servePage, type ServedPage } from './served-page.ts'
import { until } from '../served.ts'

/** When everything in the pictures happens. */
export const NOW = Date.UTC(2026, 2, 2, 9, 30)

const clock = {
  now: () => NOW,
  after: (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

/** Every view the page has, by name: how a person gets to see it. */
export const VIEWS: Readonly<
  Record<string, (open: (url: string) => Promise<Page>, inbox: ServedPage) => Promise<void>>
> = {
  async list(open, inbox) {
    await inbox.ask([{ ...REGION, detail: 'Both have room. **Latency** is what the users notice.' }], {
      session: 'billing',
      timeoutMs: 15 * 60_000,
    })
    await inbox.ask([DB, CHECKS], { session: 'billing' })
    await inbox.ask([NAME], { session: 'search' })
    const page = await open(inbox.url())
    await readCard(page, 'Where should it run?')
    await page.getByRole('timer').waitFor()
  },
  async several(open, inbox) {
    await inbox.ask([REGION, CHECKS, NAME], { session: 'billing' })
    const page = await open(inbox.url())
    await readCard(page, 'Where should it run?')
    await page.keyboard.press('2')
    await page.keyboard.press('Enter')
    await readCard(page, 'Which checks should run?')
    await page.keyboard.press('1')
    await page.keyboard.press('3')
    await page.getByRole('textbox', { name: 'Type your own answer' }).fill('and the links in the docs')
  },
  async review(open, inbox) {
    await inbox.ask([REGION, { ...CHECKS, minSelections: 1 }, NAME], { session: 'billing' })
    const page = await open(inbox.url())
    await readCard(page, 'Where should it run?')
    await page
      .getByRole('textbox', { name: 'Type your own answer' })
      .fill('Wherever it is cheapest\nthis month')
    await page.getByRole('button', { name: 'Review', exact: true }).click()
    await readCard(page, 'Your answers')
  },
  async 'plan review'(open, inbox) {
    await inbox.ask([PLAN], { session: 'billing' })
    const page = await open(inbox.url())
    await readCard(page, 'Go ahead with this plan?')
    await page.getByRole('textbox', { name: 'Feedback' }).fill('Not before the invoices are out.')
  },
  async leaving(open, inbox) {
    await inbox.ask([DB])
    const page = await open(inbox.url())
    await readCard(page, 'Which store?')
    await page.getByRole('button', { name: 'Not answering…' }).click()
    await page.getByRole('textbox', { name: 'What you want to say' }).fill('Which one do we run elsewhere?')
  },
  async history(open, inbox) {
    const ids = []
    for (const questions of [[DB], [REGION, CHECKS], [NAME], [PLAN]])
      ids.push(await inbox.ask(questions, { session: 'billing' }))
    const [first, second, third, fourth] = ids as [string, string, string, string]
    await inbox.client.answer(first, 'SQLite', { surface: 'terminal' })
    await inbox.client.answer(second, [
      { id: 'region', selected: ['Virginia (Recommended)'], note: 'until June' },
      { id: 'checks', selected: [] },
    ])
    await inbox.client.decline(third, { reason: 'no name needed', by: 'policy', surface: 'rules' })
    await inbox.client.clarify(fourth, 'What happens to the old table?')
    const page = await open(inbox.url())
    await page.getByRole('button', { name: 'History' }).click()
    await page.getByText('Answered on terminal').waitFor()
  },
  async 'settled elsewhere'(open, inbox) {
    const id = await inbox.ask([NAME], { session: 'billing' })
    const page = await open(inbox.url())
    await readCard(page, 'What should the service be called?')
    await page.getByRole('textbox', { name: 'Your answer' }).fill('ledger, as in the book')
    await inbox.client.answer(id, 'archive', { surface: 'terminal' })
    await page.getByText('Answered on terminal').first().waitFor()
  },
  async offline(open, inbox) {
    await inbox.ask([DB], { session: 'billing' })
    const page = await open(inbox.url())
    await readCard(page, 'Which store?')
    await inbox.stop()
    await page.getByText('Offline.').first().waitFor()
    await page.keyboard.press('1')
    await page.keyboard.press('Enter')
    await page.getByText('Not sent yet').waitFor()
  },
  async 'leaving by Escape'(open, inbox) {
    await inbox.ask([DB])
    const page = await open(inbox.url())
    await readCard(page, 'Which store?')
    await page.keyboard.press('Escape')
    await page.getByText('Esc again').waitFor()
  },
  async 'unknown kind'(open, inbox) {
    await inbox.served.inbox.open({ kind: 'launch', payload: {} })
    const page = await open(inbox.url())
    await page.getByText('This cannot be answered here').waitFor()
  },
  async token(open, inbox) {
    const page = await open(inbox.served.server.url)
    await page.getByRole('heading', { name: 'This page needs its token' }).waitFor()
  },
  async empty(open, inbox) {
    const page = await open(inbox.url())
    await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor()
  },
  async 'one request'(open, inbox) {
    const options = [
      { label: 'Keep it', preview: { format: 'text', content: 'retries: 3\nbackoff: 200 ms' } },
      { label: 'Drop it', description: 'The callers retry by themselves.' },
    ]
    const page = await open(
      inbox.url(await inbox.ask([{ id: 'r', question: 'Keep the retry loop?', options }])),
    )
    await readCard(page, 'Keep the retry loop?')
    await page.getByText('Preview', { exact: true }).click()
    await page.frameLocator('iframe.preview').getByText('backoff').waitFor()
  },
  async 'right to left'(open, inbox) {
    await inbox.ask(
      [
        {
          id: 'q',
          header: 'אחסון',
          question: 'איפה לשמור את הנתונים?',
          detail: 'הטבלה גדלה ב-**2 GB** בשבוע.',
          options: [
            { label: 'Postgres (Recommended)', description: 'שרת נפרד, עם גיבוי' },
            { label: 'קובץ SQLite', description: 'קובץ אחד, בלי שרת' },
          ],
        },
      ],
      { session: 'חיוב' },
    )
    const page = await open(inbox.url())
    await readCard(page, 'איפה לשמור את הנתונים?')
    await page.keyboard.press('2')
  },
}

/** Brings a new page to a view. */
export async function showView(name: string, options: OpenOptions = {}): Promise<Page> {
  const inbox = await servePage({ inbox: { clock } })
  let page: Page | undefined
  await VIEWS[name]!(async url => {
    page = await openPage(url, {
      now: NOW,
      // The clock that is set here is no part of the sandboxed frame.
      allow: [UNREACHABLE, /Blocked script execution in 'about:srcdoc'/u],
      viewport: { width: 800, height: 600 },
      reducedMotion: 'reduce',
      ...options,
    })
    return page
  }, inbox)
  await until(() => page!.evaluate(() => document.fonts.status === 'loaded'))
  return page!
}
