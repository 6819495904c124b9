import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openTerminal } from '../../packages/provider-terminal/tests/pseudo-terminal.ts'
import { readFences } from './fences.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

// `UPDATE_PICTURES=1 npx vitest run tests/docs` draws them anew.
test('the pictures of the terminal in the documents are what the demo shows', async () => {
  const terminal = openTerminal(process.execPath, [`${root}/packages/handraise/dist/cli.js`, 'demo'], {
    columns: 78,
    rows: 24,
  })
  const drawn = new Map<string, string>()
  const draw = (name: string, lines: readonly string[], header: string): void => {
    drawn.set(name, lines.slice(lines.indexOf(header)).join('\n'))
  }
  try {
    draw('first-question', await terminal.untilShown('dismiss'), 'Database')
    await new Promise(resolve => setTimeout(resolve, 550))
    terminal.press('enter')
    await terminal.untilShown('Which checks')
    await new Promise(resolve => setTimeout(resolve, 550))
    terminal.press(' ', 'down', 'down', ' ')
    draw('terminal', await terminal.untilShown('3. [x] Tests'), 'Checks')
  } finally {
    terminal.close()
  }
  const pictures = readFences(root).filter(({ picture }) => picture !== undefined && drawn.has(picture))
  expect(new Set(pictures.map(({ picture }) => picture))).toEqual(new Set(drawn.keys()))
  for (const { page, picture = '', code } of pictures) {
    const shown = drawn.get(picture) ?? ''
    if (process.env.UPDATE_PICTURES === undefined) {
      expect(code).toBe(shown)
      continue
    }
    const block = (text: string): string => `<!-- picture: ${picture} -->\n\n\`\`\`text\n${text}\n\`\`\``
    const before = readFileSync(`${root}/${page}`, 'utf8')
    writeFileSync(
      `${root}/${page}`,
      before.replace(block(code), () => block(shown)),
    )
  }
})
