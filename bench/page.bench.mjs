// The page in a real browser, served by the command: how long it takes to open with 100,000 requests pending against the
// same page with one, how long until a second page shows what was settled on the first, and what 1,000 requests that come
// and go leave behind. Needs a Chromium: HANDRAISE_CHROMIUM, or /usr/bin/chromium.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { InboxClient, pageUrl } from '@handraise/provider-web'
import { chromium } from 'playwright-core'

const PENDING = 100_000
const OPENINGS = 7
const SETTLEMENTS = 50
const COME_AND_GO = 1_000
const IN_FLIGHT = 50

const questions = [
  {
    id: 'db',
    question: 'Which store?',
    header: 'Store',
    options: [{ label: 'Postgres' }, { label: 'SQLite' }],
  },
]
const cli = createRequire(import.meta.url)
  .resolve('handraise/package.json')
  .replace('package.json', 'dist/cli.js')

export async function run() {
  const browser = await chromium.launch({
    executablePath: process.env.HANDRAISE_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  const directory = mkdtempSync(join(tmpdir(), 'handraise-bench-'))
  try {
    const one = await opening(browser, join(directory, 'one.db'), 1)
    const many = await opening(browser, join(directory, 'many.db'), PENDING)
    console.log('opening the page until the first question can be answered, median of', OPENINGS)
    console.log(
      `  1 pending ${one.toFixed(0)} ms, ${PENDING} pending ${many.toFixed(0)} ms: ${(many / one).toFixed(2)} x`,
    )
    await settling(browser, join(directory, 'settling.db'))
    await comingAndGoing(browser, join(directory, 'coming.db'))
  } finally {
    await browser.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function opening(browser, file, count) {
  const store = await openSqliteStore({ file })
  const open = index =>
    store.open({
      request: {
        id: `id-${index}`,
        kind: 'questions',
        payload: { questions },
        session: `session-${index % 100}`,
        key: `key-${index}`,
        openedAt: Date.now(),
      },
      digest: 'digest',
    })
  for (let index = 0; index < count; index += 500)
    await Promise.all(Array.from({ length: Math.min(500, count - index) }, (_, at) => open(index + at)))
  await store.close()
  return serving(file, async server => {
    const times = []
    for (let round = 0; round <= OPENINGS; round += 1) {
      const context = await browser.newContext()
      const page = await context.newPage()
      const from = performance.now()
      await page.goto(pageUrl(server))
      await page.getByRole('radio').first().waitFor()
      // The first warms up.
      if (round > 0) times.push(performance.now() - from)
      await context.close()
    }
    return quantile(times, 0.5)
  })
}

async function settling(browser, file) {
  await serving(file, async server => {
    const client = new InboxClient(server)
    const pages = await Promise.all([openPage(browser, server), openPage(browser, server)])
    const times = []
    for (let index = 0; index < SETTLEMENTS; index += 1) {
      const question = `Which store, ${index}?`
      const { request } = await client.open({
        questions: [{ ...questions[0], question }],
        key: `key-${index}`,
      })
      const heading = pages.map(page => page.getByRole('heading', { name: question }))
      await Promise.all(heading.map(each => each.waitFor()))
      const ended = pages.map(page =>
        page.getByRole('strong').filter({ hasText: 'Answered on web' }).waitFor(),
      )
      const from = performance.now()
      await client.answer(request.id, '2')
      await Promise.all(ended)
      times.push(performance.now() - from)
      await Promise.all(pages.map(page => page.getByRole('button', { name: /Next question|Close/u }).click()))
    }
    console.log(
      'settled until two pages say so',
      `p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`,
    )
    for (const page of pages) await page.context().close()
  })
}

async function comingAndGoing(browser, file) {
  await serving(file, async server => {
    const client = new InboxClient(server)
    const page = await openPage(browser, server)
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable')
    const measure = async () => {
      await session.send('HeapProfiler.collectGarbage')
      const { metrics } = await session.send('Performance.getMetrics')
      const of = name => metrics.find(metric => metric.name === name).value
      return {
        heap: of('JSHeapUsedSize') / 1024 / 1024,
        nodes: of('Nodes'),
        listeners: of('JSEventListeners'),
      }
    }
    const comeAndGo = async from => {
      for (let index = from; index < from + COME_AND_GO; index += IN_FLIGHT) {
        const opened = await Promise.all(
          Array.from({ length: IN_FLIGHT }, (_, at) => client.open({ questions, key: `key-${index + at}` })),
        )
        await Promise.all(opened.map(({ request }) => client.answer(request.id, '1')))
      }
      const last = page.getByRole('button', { name: /Next question|Close/u })
      if (await last.isVisible()) await last.click()
      await page.getByText('Nothing is waiting').waitFor()
    }
    const say = (when, { heap, nodes, listeners }) =>
      console.log(`  ${when}  heap ${heap.toFixed(2)} MiB, ${nodes} nodes, ${listeners} listeners`)
    console.log('a page left open while requests come and go')
    say('at first   ', await measure())
    for (let round = 0; round < 3; round += 1) {
      const from = performance.now()
      await comeAndGo(round * COME_AND_GO)
      const took = performance.now() - from
      say(`after ${(round + 1) * COME_AND_GO}`, await measure())
      console.log(`              ${((COME_AND_GO / took) * 1000).toFixed(0)} a second`)
    }
    await page.context().close()
  })
}

async function openPage(browser, server) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(pageUrl(server))
  await page.getByText('Connected').waitFor()
  return page
}

async function serving(file, use) {
  const server = spawn(process.execPath, [cli, 'serve', '--json', '--db', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const line = await new Promise(resolve => createInterface({ input: server.stdout }).once('line', resolve))
    return await use(JSON.parse(line))
  } finally {
    server.kill('SIGINT')
    await new Promise(resolve => server.once('exit', resolve))
  }
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
