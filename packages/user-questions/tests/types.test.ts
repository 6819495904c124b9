import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as everything from '@handraise/user-questions'
import * as types from '@handraise/user-questions/types'
import { expect, test } from 'vitest'

const SOURCE = fileURLToPath(new URL('../src', import.meta.url))
const IMPORTED = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"]([^'"]+)['"]/gu

/** Every file that `entry` reaches, with the packages it names. */
function reachedFrom(entry: string): Map<string, string[]> {
  const reached = new Map<string, string[]>()
  const queue = [entry]
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file)) continue
    const named = [...readFileSync(file, 'utf8').matchAll(IMPORTED)].map(([, name = '']) => name)
    reached.set(
      file,
      named.filter(name => !name.startsWith('.')),
    )
    for (const name of named) if (name.startsWith('.')) queue.push(join(dirname(file), name))
  }
  return reached
}

test('the types entry reaches nothing but its own files and zod', () => {
  const reached = reachedFrom(join(SOURCE, 'types.ts'))
  const files = [...reached.keys()].map(file => relative(SOURCE, file))
  expect(files).toContain('answer-rules.ts')
  expect(files).toContain('text-mapping.ts')
  expect(files).not.toContain('service.ts')
  expect(files).not.toContain('seam.ts')
  expect([...new Set([...reached.values()].flat())]).toEqual(['zod'])
})

test('the types entry uses no global that browsers lack', () => {
  for (const file of reachedFrom(join(SOURCE, 'types.ts')).keys()) {
    expect(readFileSync(file, 'utf8')).not.toMatch(/\b(?:process|Buffer|global|__dirname)\s*[.[(]/u)
  }
})

test('the walk finds what a host-side entry reaches', () => {
  expect([...reachedFrom(join(SOURCE, 'index.ts')).values()].flat()).toContain('cordis')
  expect([...reachedFrom(join(SOURCE, 'testing/index.ts')).values()].flat()).toContain('node:assert/strict')
})

test('the main entry offers all that the types entry does', () => {
  expect(everything).toMatchObject(types)
})
