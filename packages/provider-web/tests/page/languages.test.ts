import { describe, expect, test } from 'vitest'
import { en } from '../../page/src/languages/en.ts'
import { chooseLanguage, LANGUAGES, loadLanguage } from '../../page/src/languages/index.ts'
import { openPage, readCard, useChromium } from './browser.ts'
import { NAME, REGION } from './questions.ts'
import { DB, servePage } from './served-page.ts'

useChromium()

describe.for(LANGUAGES)('the language %s', code => {
  test('says everything that English says, from the same values', async () => {
    const wording = await loadLanguage(code)
    const shape = (words: object): unknown =>
      Object.fromEntries(
        Object.entries(words).map(([name, said]) => [
          name,
          typeof said === 'function'
            ? said.length
            : typeof said === 'object'
              ? shape(said as object)
              : typeof said,
        ]),
      )
    expect(shape(wording)).toEqual(shape(en))
  })

  test('says each of them with something, and uses what it is given', async () => {
    const wording = await loadLanguage(code)
    for (const [name, said] of Object.entries(wording)) {
      if (typeof said === 'string') expect(said.trim(), name).not.toBe('')
      if (typeof said !== 'function') continue
      const given = Array.from({ length: said.length }, (_, index) => String(41 + index))
      const text = (said as (...values: unknown[]) => string)(...given)
      for (const value of given) expect(text, `${code}: ${name}`).toContain(value)
    }
  })
})

test('the language is the first of the browser’s that there is, by its main part', () => {
  expect(chooseLanguage([null, 'zh-TW', 'en'])).toBe('zh')
  expect(chooseLanguage([null, 'fr-FR', 'ZH'])).toBe('zh')
  expect(chooseLanguage([null, 'constructor', '__proto__', ''])).toBe('en')
  expect(chooseLanguage([])).toBe('en')
})

test('in Chinese all that is the page’s own is Chinese, and the answers are the same data as in English', async () => {
  const inbox = await servePage()
  const id = await inbox.ask([{ ...DB, options: [...DB.options!, { label: 'Other' }] }, REGION])
  const page = await openPage(inbox.url(), { locale: 'zh-CN' })
  await readCard(page, 'Which store?')
  expect(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir])).toEqual([
    'zh',
    'ltr',
  ])
  await page.getByRole('textbox', { name: 'Other：输入自己的回答' }).fill('图数据库')
  await page.getByRole('button', { name: '下一步' }).click()
  await readCard(page, 'Where should it run?')
  await page.getByText('推荐', { exact: true }).waitFor()
  await page.getByRole('button', { name: '跳过' }).click()
  await readCard(page, '你的回答')
  await page.getByRole('button', { name: '发送回答' }).click()
  expect((await inbox.ending(id)).answer).toEqual({
    answers: [
      { id: 'db', selected: [], custom: '图数据库' },
      { id: 'region', selected: [] },
    ],
  })
  const shown = await page.locator('body').innerText()
  for (const english of Object.values(en))
    if (typeof english === 'string' && !['English', 'ltr'].includes(english))
      expect(shown).not.toContain(english)
})

test('the language the person chose stays through a reload, and so does what they were typing', async () => {
  const inbox = await servePage()
  await inbox.ask([NAME])
  const page = await openPage(inbox.url())
  await readCard(page, 'What should the service be called?')
  await page.getByRole('textbox', { name: 'Your answer' }).fill('ledger')
  await page.getByRole('combobox', { name: 'Language' }).selectOption('zh')
  expect(await page.getByRole('textbox', { name: '你的回答' }).inputValue()).toBe('ledger')
  await page.reload()
  await readCard(page, 'What should the service be called?')
  expect(await page.getByRole('textbox', { name: '你的回答' }).inputValue()).toBe('ledger')
  await page.getByRole('combobox', { name: '语言' }).selectOption('en')
  await page.getByRole('textbox', { name: 'Your answer' }).waitFor()
})
