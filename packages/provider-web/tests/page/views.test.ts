import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { useChromium, type OpenOptions, type Page } from './browser.ts'
import { directory } from './served-page.ts'
import { showView, VIEWS } from './views.ts'

useChromium()

/** Those that the documents show: `UPDATE_PICTURES=1 npx vitest run packages/provider-web/tests/page/views.test.ts`. */
const SHOWN = new Set(['list', 'list-dark', 'plan-review', 'review-phone'])
const DOCS = fileURLToPath(new URL('../../../../docs/pictures/', import.meta.url))

/** The largest a picture may be, in bytes. */
const LARGEST = 80_000

async function draw(page: Page, name: string): Promise<void> {
  const isShown = SHOWN.has(name)
  const folder =
    isShown && process.env.UPDATE_PICTURES !== undefined ? DOCS : (process.env.PICTURES ?? directory())
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `page-${name}.png`)
  const picture = await page.screenshot({
    path,
    fullPage: true,
    animations: 'disabled',
    caret: 'hide',
  })
  if (isShown) expect(picture.length).toBeLessThan(LARGEST)
}

const named = (name: string) => name.replaceAll(' ', '-')
const dark: OpenOptions = { colorScheme: 'dark' }
const phone: OpenOptions = { viewport: { width: 390, height: 760 } }

test.for(Object.keys(VIEWS))('the view %s can be drawn', async name => {
  await draw(await showView(name), named(name))
})

test.for([
  { name: 'list', how: 'dark', options: dark },
  { name: 'plan review', how: 'dark', options: dark },
  { name: 'several', how: 'phone', options: phone },
  { name: 'review', how: 'phone', options: phone },
  { name: 'plan review', how: 'phone', options: phone },
  { name: 'history', how: 'phone', options: phone },
])('the view $name can be drawn: $how', async ({ name, how, options }) => {
  await draw(await showView(name, options), `${named(name)}-${how}`)
})

test('the list can be drawn in Chinese, and with everything right to left', async () => {
  const chinese = await showView('list')
  await chinese.getByRole('combobox', { name: 'Language' }).selectOption('zh')
  await draw(chinese, 'list-chinese')
  const mirrored = await showView('right to left')
  await mirrored.evaluate(() => (document.documentElement.dir = 'rtl'))
  await draw(mirrored, 'mirrored')
})
