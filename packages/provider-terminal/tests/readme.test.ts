import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { armed, screen } from './prompt-driver.ts'

test('the picture in the README is what is drawn', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, picture] = /<!-- picture: terminal-question -->\s*```text\n([^]*?)\n```/u.exec(readme) ?? []
  const options = [{ label: 'Postgres' }, { label: 'SQLite (Recommended)' }]
  const question = { id: 'db', header: 'Store', question: 'Which store?', options }
  expect(picture?.split('\n')).toEqual(screen(armed([question])))
})
