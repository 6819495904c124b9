import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { findChromium } from '../../../../scripts/browser.mjs'

/** What the package is built of is what is tested. */
export const BUILT = fileURLToPath(new URL('../../dist/page/', import.meta.url))

// Nothing that a browser does by itself: no updates, no pings, no protocol that a proxy in between would not know.
const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Letters look the same wherever the pictures are drawn.
  '--font-render-hinting=none',
]

let browser: Browser | undefined

/** One Chromium for the tests of the file that calls this; each test opens contexts of its own in it. */
export function useChromium(): void {
  beforeAll(async () => {
    if (!existsSync(`${BUILT}index.html`)) throw new Error('the page is not built; run npm run setup')
    const executablePath = findChromium()
    if (executablePath === undefined) throw new Error('there is no Chromium; run node scripts/browser.mjs')
    browser = await chromium.launch({ executablePath, args: ARGS })
  })
  afterAll(async () => {
    await browser?.close()
    browser = undefined
  })
}

export interface OpenOptions extends BrowserContextOptions {
  /** Besides what every page says: errors on the console that belong to what is tested. */
  readonly allow?: readonly RegExp[]
  /** Runs in each page before the page's own script. */
  readonly init?: () => void
  /** Another page of a browser that is open already: both share what a browser keeps. */
  readonly beside?: Page
  /** The instant the page believes it is, all the time. */
  readonly now?: number
}

/** Errors that a browser reports by itself about requests; the tests say where they are expected. */
export const UNREACHABLE = /Failed to load resource: net::ERR_/u
export const refusedWith = (status: number): RegExp =>
  new RegExp(`the server responded with a status of ${status} `, 'u')

/**
 * Opens a page. The test fails when a script of it fails, when its policy forbids something it does, and when it writes
 * a warning or an error to the console that was not allowed.
 */
export async function openPage(url: string, options: OpenOptions = {}): Promise<Page> {
  const { allow = [], init, beside, now, ...context } = options
  const opened =
    beside?.context() ??
    (await launched().newContext({ locale: 'en-US', timezoneId: 'UTC', deviceScaleFactor: 1, ...context }))
  if (beside === undefined) onTestFinished(() => opened.close())
  const page = await opened.newPage()
  // Sooner than the test itself: what was waited for is told.
  page.setDefaultTimeout(8_000)
  const faults: string[] = []
  page.on('pageerror', error => faults.push(`error: ${error.stack ?? error.message}`))
  page.on('console', message => {
    if (!['error', 'warning'].includes(message.type())) return
    if (!allow.some(pattern => pattern.test(message.text())))
      faults.push(`${message.type()}: ${message.text()}`)
  })
  onTestFinished(() => expect(faults, 'what the page reported').toEqual([]))
  await page.addInitScript(elapse)
  if (init !== undefined) await page.addInitScript(init)
  if (now !== undefined) await page.clock.setFixedTime(now)
  await page.goto(url)
  return page
}

function launched(): Browser {
  if (browser === undefined) throw new Error('useChromium() is to be called in the file first')
  return browser
}

/** For how long a request that came up by itself takes no keys and clicks: waited for where that is what is tested. */
export const ARMED_MS = 550

// What the page takes for the time since it was opened; a test may let a while pass on it.
function elapse(): void {
  const now = performance.now.bind(performance)
  let passed = 0
  performance.now = () => now() + passed
  Object.assign(globalThis, { elapse: (ms: number) => (passed += ms) })
}

/** The card of the request or step in view, once it is there, and after a person has taken a second to look at it. */
export async function readCard(page: Page, title: string | RegExp): Promise<Locator> {
  const card = page.getByRole('region', { name: title, exact: true })
  await card.waitFor()
  await page.evaluate(() => (globalThis as unknown as { elapse(ms: number): void }).elapse(1_000))
  return card
}

/** What a screen reader gets to know of the page, in the order in which it reads. */
export async function accessibleNodes(page: Page) {
  const session = await page.context().newCDPSession(page)
  try {
    const { nodes } = await session.send('Accessibility.getFullAXTree')
    const byId = new Map(nodes.map(node => [node.nodeId, node]))
    const read = (id: string): typeof nodes => {
      const node = byId.get(id)
      return node === undefined ? [] : [node, ...(node.childIds ?? []).flatMap(read)]
    }
    return read(nodes[0]?.nodeId ?? '').filter(({ ignored }) => !ignored)
  } finally {
    await session.detach()
  }
}

/** What is in focus: its role and name, as a screen reader says them. */
export async function focused(page: Page): Promise<string> {
  const inFocus = (await accessibleNodes(page)).filter(({ properties = [] }) =>
    properties.some(({ name, value }) => name === 'focused' && value.value === true),
  )
  const node = inFocus.at(-1)
  return `${String(node?.role?.value)}: ${String(node?.name?.value)}`
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResults {
  readonly violations: ReadonlyArray<{
    readonly id: string
    readonly help: string
    readonly nodes: ReadonlyArray<{ readonly target: readonly string[]; readonly failureSummary?: string }>
  }>
}

/**
 * What axe finds wrong with the page as it is now. It runs through the debugger, as the page's own policy lets no script
 * in, and rightly so.
 */
export async function axe(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  try {
    const evaluate = (expression: string) =>
      session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    await evaluate(`${AXE}; undefined`)
    const { result, exceptionDetails } = await evaluate(
      `axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
    )
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description)
    return (result.value as AxeResults).violations.flatMap(({ id, help, nodes }) =>
      nodes.map(
        ({ target, failureSummary = '' }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary}`,
      ),
    )
  } finally {
    await session.detach()
  }
}

export type { Locator, Page }
