import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { InboxError } from '@handraise/inbox'
import { OUTCOME_OF_CODE } from '@handraise/user-questions'
import { LIMITS } from '@handraise/wire'
import { ERRORS, USER_INPUT_OUTCOMES } from '@handraise/wire/protocol'
import { describe, expect, test } from 'vitest'

interface ErrorRow {
  readonly code: number
  readonly retryable?: boolean
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const codesIn = (page: string): Set<string> =>
  new Set(readFileSync(`${root}/${page}`, 'utf8').match(/(?<=`)[A-Z]+(?:_[A-Z]+)+(?=`)/gu))

test('the README names every code an ask can end with', () => {
  const named = codesIn('README.md')
  expect(Object.keys(OUTCOME_OF_CODE).filter(code => !named.has(code))).toEqual([])
})

test('the README of the inbox names every code of its errors', () => {
  const source = readFileSync(`${root}/packages/inbox/src/error.ts`, 'utf8')
  const codes = [...source.matchAll(/^ {2}([A-Z_]+): \(/gmu)].map(([, code]) => code)
  expect(codes.length).toBeGreaterThan(5)
  expect(InboxError.isInstance(new InboxError('STORE_CLOSED', {}))).toBe(true)
  const named = codesIn('packages/inbox/README.md')
  expect(codes.filter(code => !named.has(String(code)))).toEqual([])
})

describe('the README of the wire', () => {
  const readme = readFileSync(`${root}/packages/wire/README.md`, 'utf8')
  const sectionOf = (title: string): string => {
    const [, after = ''] = readme.split(`\n## ${title}\n`)
    return after.split('\n## ')[0] ?? ''
  }
  const rowsOf = (text: string): string[][] =>
    [...text.matchAll(/^\| (.+) \|$/gmu)].map(([, row = '']) => row.split('|').map(cell => cell.trim()))
  const wordsIn = (text: string): string[] => [...text.matchAll(/`(\w+)`/gu)].map(([, word = '']) => word)

  test('has every error the host sends, with its code, and whether to send the same again', () => {
    const rows = rowsOf(sectionOf('Errors')).flatMap(([code, kinds = '', , again = '']) =>
      wordsIn(kinds).map(kind => [kind, { code: Number(code), retryable: { yes: true, no: false }[again] }]),
    )
    const [, never = ''] = sectionOf('Errors').split('Never sent by this host:')
    const neverSent = new Set(wordsIn(never))
    const sent: [kind: string, row: ErrorRow][] = Object.entries(ERRORS).filter(
      ([kind]) => !neverSent.has(kind),
    )
    const expected = sent.map(([kind, { code, retryable }]) => [kind, { code, retryable }])
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected))
    expect([...neverSent].filter(kind => !(kind in ERRORS))).toEqual([])
    const source = readdirSync(`${root}/packages/wire/src/host`)
      .map(name => readFileSync(`${root}/packages/wire/src/host/${name}`, 'utf8'))
      .join('\n')
    const made = new Set([...source.matchAll(/new WireError\(\s*'(\w+)'/gu)].map(([, kind = '']) => kind))
    expect(sent.map(([kind]) => kind).filter(kind => !made.has(kind))).toEqual([])
    expect([...made].filter(kind => neverSent.has(kind))).toEqual([])
  })

  test('has every limit, with its default', () => {
    const defaults = rowsOf(sectionOf('Slow readers')).flatMap(([name = '', , value = '']) =>
      wordsIn(name).map(word => [word, Number(value.replaceAll(',', ''))]),
    )
    expect(Object.fromEntries(defaults)).toEqual(LIMITS)
  })

  test('has every way in which a question ends, by the word the wire has for it', () => {
    const outcomes = rowsOf(sectionOf('How a question ends'))
      .filter(cells => cells.length === 5 && cells[0] !== 'in the inbox')
      .flatMap(([ours = '', theirs = '']) => wordsIn(theirs).map(word => [ours, word]))
    const ofWire = new Set(outcomes.map(([, theirs]) => theirs))
    expect(ofWire).toEqual(new Set(USER_INPUT_OUTCOMES))
    // What ends an ask without being settled is no ending of a question that waits.
    const ours = new Set<string>(['answered', ...Object.values(OUTCOME_OF_CODE)])
    for (const word of ['unavailable', 'failed']) ours.delete(word)
    expect(new Set(outcomes.map(([word]) => word))).toEqual(ours)
  })
})
