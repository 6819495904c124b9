import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { settingsOf } from '../src/ask-tool-options.ts'
import { ANSWER_IN } from '../src/index.ts'
import { PAUSE_ENDINGS } from '../src/pause/pause-ending.ts'

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8')
const readme = read('../README.md')
const cellsOf = (row: string): string[] => row.split('|').map(cell => cell.trim())
const rows = new Map(
  Array.from(readme.matchAll(/^\| `(\w+)` \| (.+) \|$/gmu), ([, name = '', rest = '']) => [
    name,
    cellsOf(rest),
  ]),
)

describe('the README names', () => {
  test('every place where people may answer, and the default of each time', () => {
    const settings = settingsOf({})
    expect(ANSWER_IN.filter(place => !rows.get('answerIn')?.[0]?.includes(`\`${place}\``))).toEqual([])
    expect(rows.get('answerIn')?.[1]).toBe(`\`${settings.answerIn}\``)
    for (const name of ['callLimitMs', 'progressEveryMs', 'autoDeclineMs'] as const)
      expect(Number(rows.get(name)?.[1]?.replaceAll(',', ''))).toBe(settings[name])
  })

  test('every code of the errors of a pause, and every way in which one ends', () => {
    const codes = Array.from(
      read('../src/pause/pause-error.ts').matchAll(/^ {2}([A-Z_]+): \(/gmu),
      ([, code = '']) => code,
    )
    expect(codes.length).toBeGreaterThan(2)
    for (const name of [...codes, ...PAUSE_ENDINGS]) expect(rows.has(name)).toBe(true)
  })

  test('every option of pauses but the time', () => {
    const [, options = ''] =
      /interface PausesOptions \{(.*?)\n\}/su.exec(read('../src/pause/pauses.ts')) ?? []
    const names = Array.from(options.matchAll(/^ {2}readonly (\w+)\?:/gmu), ([, name = '']) => name)
    expect(names).toContain('scope')
    const [, section = ''] = readme.split('| option of `Pauses` and `openPauses` |')
    const [table = ''] = section.split('\n\n')
    const missing = names.filter(name => !new RegExp(`^\\|[^|]*\`${name}[\`(]`, 'mu').test(table))
    expect(missing).toEqual(['clock'])
  })

  test('every code that the tool tells by itself', () => {
    const told = Array.from(
      read('../src/ask-tool-result.ts').matchAll(/toldAs\('([A-Z_]+)'/gu),
      ([, code]) => code,
    )
    expect(told).toHaveLength(2)
    expect(told.filter(code => !readme.includes(`\`${code}\``))).toEqual([])
  })
})
