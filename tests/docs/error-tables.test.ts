import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { InboxError } from '@handraise/inbox'
import { OUTCOME_OF_CODE } from '@handraise/user-questions'
import { expect, test } from 'vitest'

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
