import type { Request } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Question } from '@handraise/user-questions'
import { openPage, readCard, useChromium, type Page } from './browser.ts'
import { PLAN } from './questions.ts'
import { DB, servePage } from './served-page.ts'

useChromium()

// Each would call `harm` if any of it ran.
const SCRIPTS = [
  '<script>harm()</script>',
  '<img src=x onerror=harm()>',
  '<svg onload=harm()>',
  '<iframe srcdoc="<script>parent.harm()</script>"></iframe>',
  '"><script>harm()</script>',
  "' onfocus=harm() autofocus='",
  '[a](javascript:harm())',
  '[b](data:text/html,<script>parent.harm()</script>)',
  '![c](javascript:harm())',
  '<a href="javascript:harm()">d</a>',
  '<style>*{display:none}</style>',
  '<base href="https://elsewhere.test/">',
  '<meta http-equiv="refresh" content="0;url=https://elsewhere.test/">',
]
const HOSTILE = SCRIPTS.join(' ')
// What reorders, hides or controls: the override, isolates, marks, zero-width joiner apart, NUL is refused by stores.
const CONTROLS = 'safe\u202etxt.exe\u2066x\u2069\u200f\u061c\u001b[2K\u0007\u2028\ufeff\u{e0041}'
const RAW =
  /[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/u

/** Every text field of questions, holding `evil`; labels stay different from each other. */
function everywhere(evil: string): Question[] {
  return [
    {
      id: 'one',
      header: `header ${evil}`,
      question: `question ${evil}`,
      detail: `detail ${evil}\n\n# ${evil}\n\n- ${evil}\n\n\`\`\`\n${evil}\n\`\`\`\n\n| a | ${evil} |\n| - | - |\n| b | c |`,
      options: [
        {
          label: `label ${evil}`,
          description: `description ${evil}`,
          preview: { format: 'markdown', content: `preview ${evil}` },
        },
        { label: 'Other', description: `beside ${evil}` },
      ],
    },
    {
      id: 'two',
      header: `second ${evil}`,
      question: `second ${evil}`,
      multiSelect: true,
      options: [{ label: `A ${evil}` }, { label: `B ${evil}` }],
    },
    { id: 'three', question: `third ${evil}` },
  ]
}

/** Goes through every view that shows questions, calling `look` in each. */
async function throughAllViews(
  evil: string,
  look: (page: Page, where: string) => Promise<void>,
): Promise<Page> {
  const inbox = await servePage()
  const more = { session: `session ${evil}` }
  const id = await inbox.ask(everywhere(evil), more)
  const plan = await inbox.ask([{ ...PLAN, question: `plan ${evil}`, detail: `plan ${evil}` }], more)
  await inbox.served.inbox.open({
    kind: `kind ${evil}`,
    payload: {},
    session: `session ${evil}`,
    agent: `agent ${evil}`,
  })
  const page = await openPage(inbox.url(), {
    init: () => Object.assign(globalThis, { harm: () => Object.assign(globalThis, { harmed: true }) }),
  })
  await readCard(page, /^question/u)
  await look(page, 'the first question')
  await page.locator('summary').first().click()
  await page.locator('iframe.preview').waitFor()
  await look(page, 'a preview')
  await page.getByRole('button', { name: 'Question 2 of 3' }).click()
  await readCard(page, /^second/u)
  await page.getByRole('checkbox').first().check()
  await look(page, 'the second question')
  await page.getByRole('button', { name: 'Review', exact: true }).click()
  await page.getByRole('heading', { name: 'Your answers' }).waitFor()
  await look(page, 'the review')
  await page.getByRole('navigation').getByRole('button', { name: /plan/u }).first().click()
  await page.getByText('Plan review').waitFor()
  await look(page, 'a plan')
  await page.getByRole('navigation').getByRole('button', { name: /kind/u }).first().click()
  await page.getByText('This cannot be answered here').waitFor()
  await look(page, 'an unknown kind')
  await page
    .getByRole('navigation')
    .getByRole('button', { name: /question/u })
    .first()
    .click()
  await page.getByRole('heading', { name: 'Your answers' }).waitFor()
  const answers = [
    { id: 'one', selected: [], custom: `custom ${evil}` },
    { id: 'two', selected: [`A ${evil}`], note: `note ${evil}` },
    { id: 'three', selected: [], custom: `third ${evil}` },
  ]
  await inbox.client.answer(id, answers, { surface: 'terminal' })
  await page.getByText('Answered on terminal').first().waitFor()
  await look(page, 'the ending')
  await inbox.client.decline(plan, { reason: `reason ${evil}` })
  await page.getByRole('button', { name: 'History' }).click()
  await page.getByText('Declined on web').first().waitFor()
  await look(page, 'the history')
  return page
}

test('scripts, markup and links in any text are shown as they stand, and nothing of them runs or is loaded', async () => {
  const requests: string[] = []
  let heard = false
  const page = await throughAllViews(HOSTILE, async (shown, where) => {
    if (!heard) shown.on('request', request => requests.push(request.url()))
    heard = true
    const inPage = await shown.evaluate(() => ({
      harmed: 'harmed' in globalThis,
      elements: [
        ...document.querySelectorAll(
          '#page :is(script, style, img, svg, base, meta, object, embed, form, [onerror], [onload], [onfocus])',
        ),
      ].length,
      frames: [...document.querySelectorAll('iframe')].map(frame => frame.getAttribute('sandbox')),
      links: [...document.querySelectorAll('#page a')].map(link => (link as HTMLAnchorElement).protocol),
    }))
    expect(inPage.harmed, where).toBe(false)
    expect(inPage.elements, where).toBe(0)
    expect(
      inPage.frames.filter(sandbox => sandbox !== ''),
      where,
    ).toEqual([])
    expect(
      inPage.links.filter(protocol => !['http:', 'https:', 'mailto:'].includes(protocol)),
      where,
    ).toEqual([])
  })
  expect(await page.evaluate(() => document.title)).toBe('(1) Handraise')
  const own = new URL(page.url()).origin
  expect(requests.filter(url => !url.startsWith(own) && !url.startsWith('about:'))).toEqual([])
})

test('characters that reorder, hide or control are written out, in every text and every attribute', async () => {
  const faults = new Set<string>()
  await throughAllViews(CONTROLS, async (page, where) => {
    const found = await page.evaluate(raw => {
      const pattern = new RegExp(raw, 'u')
      const bad: string[] = []
      const walker = document.createTreeWalker(
        document.documentElement,
        NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT,
      )
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        if (node.nodeType === Node.TEXT_NODE) {
          if (pattern.test(node.nodeValue ?? ''))
            bad.push(`text of ${node.parentElement?.outerHTML.slice(0, 60)}`)
          continue
        }
        for (const { name, value } of (node as Element).attributes)
          if (pattern.test(value))
            bad.push(`${name} of ${(node as Element).localName}.${(node as Element).className}`)
      }
      return [...new Set(bad)]
    }, RAW.source)
    for (const fault of found) faults.add(`${where}: ${fault}`)
  })
  expect([...faults]).toEqual([])
})

test('a label with hidden characters is answered as it was offered', async () => {
  const label = 'safe\u202etxt.exe'
  const inbox = await servePage()
  const id = await inbox.ask([{ ...DB, options: [{ label }, { label: 'b' }] }])
  const page = await openPage(inbox.url())
  await readCard(page, 'Which store?')
  await page.getByText('safe\\u202etxt.exe', { exact: true }).click()
  await page.getByRole('button', { name: 'Send' }).click()
  expect((await inbox.ending(id)).answer).toEqual({ answers: [{ id: 'db', selected: [label] }] })
})

describe('right-to-left text', () => {
  test('is set in its own direction, each text by itself, and stays what it was', async () => {
    const options = [
      { label: 'בחירה (Recommended)', description: 'תיאור, עם English בתוכו' },
      { label: 'Plain' },
    ]
    const inbox = await servePage()
    const id = await inbox.ask([{ id: 'q', header: 'اختيار', question: 'מה לבחור?', options }])
    const page = await openPage(inbox.url())
    await readCard(page, 'מה לבחור?')
    const direction = (shown: string) =>
      page
        .getByText(shown, { exact: true })
        .first()
        .evaluate(node => getComputedStyle(node).direction)
    expect(await direction('מה לבחור?')).toBe('rtl')
    expect(await direction('בחירה')).toBe('rtl')
    expect(await direction('Plain')).toBe('ltr')
    await page.getByText('בחירה', { exact: true }).click()
    await page.getByRole('button', { name: 'Send' }).click()
    expect((await inbox.ending(id)).answer).toEqual({
      answers: [{ id: 'q', selected: ['בחירה (Recommended)'] }],
    })
  })
})

describe('Markdown', () => {
  const detail = async (text: string) => {
    const inbox = await servePage()
    await inbox.ask([{ ...DB, detail: text }])
    const page = await openPage(inbox.url())
    return { page, card: await readCard(page, 'Which store?') }
  }

  test('leads nowhere but to the web and to mail, says where, and tells the other side nothing of this page', async () => {
    const { card } = await detail(
      '[docs](https://example.test/a) [mail](mailto:a@example.test) [bank](https://bank.example@evil.test/) [file](file:///etc/passwd) [x](vbscript:x) [rel](/api/requests)',
    )
    const links = await card.locator('a').evaluateAll(nodes =>
      nodes.map(node => {
        const { href, rel, target, textContent } = node as HTMLAnchorElement
        return [textContent, href, rel, target]
      }),
    )
    expect(links).toEqual([
      ['docs', 'https://example.test/a', 'noopener noreferrer', '_blank'],
      ['mail', 'mailto:a@example.test', 'noopener noreferrer', '_blank'],
      ['bank', 'https://bank.example@evil.test/', 'noopener noreferrer', '_blank'],
    ])
    expect(await card.innerText()).toContain('bank (evil.test)')
    expect(await card.innerText()).toContain('file (file:///etc/passwd)')
  })

  test('loads no image: it is a link to it', async () => {
    const { page, card } = await detail('![a chart](https://example.test/chart.png)')
    expect(await page.locator('img').count()).toBe(0)
    expect(await card.getByRole('link', { name: 'a chart' }).getAttribute('href')).toBe(
      'https://example.test/chart.png',
    )
  })

  test('of more length than anybody reads does not hold up the page', async () => {
    const started = performance.now()
    const { page } = await detail('*a* [b](c) `d` '.repeat(6_000))
    await page.getByText('Postgres', { exact: true }).click()
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

describe('a preview', () => {
  test('runs nothing, loads nothing and reaches nothing, whatever its HTML says', async () => {
    const content = `<h1>Shown</h1><script>parent.harm(); document.body.append('ran')</script><img src="https://elsewhere.test/x.png" onerror="parent.harm()"><form action="https://elsewhere.test/"><button>Go</button></form>`
    const inbox = await servePage()
    await inbox.ask([
      { ...DB, options: [{ label: 'a', preview: { format: 'html', content } }, { label: 'b' }] },
    ])
    const requests: Request[] = []
    const page = await openPage(inbox.url(), {
      init: () => Object.assign(globalThis, { harm: () => Object.assign(globalThis, { harmed: true }) }),
      // The frame says of itself what it does not do.
      allow: [/Blocked script execution|Content Security Policy|form-action|sandboxed/u],
    })
    page.on('request', request => requests.push(request))
    await readCard(page, 'Which store?')
    expect(await page.locator('iframe').count()).toBe(0)
    await page.getByText('Preview', { exact: true }).click()
    const frame = page.frameLocator('iframe.preview')
    await frame.getByRole('heading', { name: 'Shown' }).waitFor()
    expect(await page.locator('iframe.preview').getAttribute('sandbox')).toBe('')
    await frame.getByRole('button', { name: 'Go' }).click()
    expect(await frame.locator('body').innerText()).not.toContain('ran')
    expect(await page.evaluate(() => 'harmed' in globalThis)).toBe(false)
    // The browser may tell of what it looked at ahead; the policy lets none of it out.
    const elsewhere = requests.filter(request => request.url().includes('elsewhere'))
    for (const request of elsewhere) await expect.poll(() => request.failure()?.errorText).toMatch(/csp/iu)
  })

  test('of any other format is text', async () => {
    const content = '<b>not bold</b> &amp; \u202eeverything'
    const inbox = await servePage()
    await inbox.ask([
      { ...DB, options: [{ label: 'a', preview: { format: 'diff', content } }, { label: 'b' }] },
    ])
    const page = await openPage(inbox.url())
    await readCard(page, 'Which store?')
    await page.getByText('Preview', { exact: true }).click()
    await page.frameLocator('iframe.preview').getByText('<b>not bold</b> &amp; \\u202eeverything').waitFor()
  })
})

test('the page is served with a policy that allows its own files alone, and lets no other site frame it', async () => {
  const inbox = await servePage()
  const { headers, json } = await inbox.served.call('GET', '/')
  expect(json).toBeUndefined()
  const policy = String(headers['content-security-policy'])
  expect(policy).not.toMatch(/unsafe|https?:|\*|data:|blob:/u)
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ])
    expect(policy).toContain(part)
  expect(headers).toMatchObject({
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
})
