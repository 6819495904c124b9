import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const readme = read('README.md')
const namesIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found)

test('the README names every code of the errors, and every option', () => {
  const codes = namesIn(read('src/error.ts'), /^ {2}([A-Z_]+): \(/gmu)
  const [, options = ''] = /interface ThreadOptions \{(.*?)\n\}/su.exec(read('src/attach.ts')) ?? []
  const names = namesIn(options, /readonly (\w+)\??: /gu).filter(name => name !== 'cursor')
  expect([codes.length, names.length]).toEqual([6, 9])
  for (const name of [...codes, ...names]) expect(readme).toContain(`\`${name}\``)
})

test('the README tells every reason why an item answered nothing', () => {
  const [, reasons = ''] = /type UnansweringReason =(.*?)\nexport/su.exec(read('src/hand-on.ts')) ?? []
  const names = namesIn(reasons, /\| '([a-z-]+)'/gu)
  expect(names).toHaveLength(11)
  for (const name of names) expect(readme).toContain(`\`${name}\``)
})
