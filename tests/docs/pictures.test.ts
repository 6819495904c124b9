import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openTerminal } from '../../packages/provider-terminal/tests/pseudo-terminal.ts'
import { readFences } from './fences.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

// `UPDATE_PICTURES=1 npx vitest run tests/docs` draws them anew.
test('the picture of the terminal in the README is what the demo shows', async () => {
  const terminal = openTerminal(process.execPath, [`${root}/packages/handraise/dist/cli.js`, 'demo'], {
    columns: 78,
    rows: 24,
  })
  try {
    await terminal.untilShown('Type your own answer')
    await new Promise(resolve => setTimeout(resolve, 550))
    terminal.press('enter')
    await terminal.untilShown('Which checks')
    await new Promise(resolve => setTimeout(resolve, 550))
    terminal.press(' ', 'down', 'down', ' ')
    const lines = await terminal.untilShown('3. [x] Tests')
    const shown = lines.slice(lines.findIndex(line => line === 'Checks')).join('\n')
    const fence = readFences(root).find(({ picture }) => picture === 'terminal')
    if (process.env.UPDATE_PICTURES !== undefined && fence !== undefined) {
      const readme = readFileSync(`${root}/README.md`, 'utf8')
      const block = (text: string): string => `<!-- picture: terminal -->\n\n\`\`\`text\n${text}\n\`\`\``
      writeFileSync(
        `${root}/README.md`,
        readme.replace(block(fence.code), () => block(shown)),
      )
    } else {
      expect(fence?.code).toBe(shown)
    }
  } finally {
    terminal.close()
  }
})
