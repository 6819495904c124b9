import type { Question } from '@handraise/user-questions/types'
import { expect, test } from 'vitest'
import { askByForm, type Form } from '../src/index.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  header: 'Store',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
const CHECKS: Question = {
  id: 'f',
  question: 'Which checks?',
  header: 'Checks',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}

/** Sends in forms of which each fills in the next of `contents`. */
async function fillIn(checks: Question, ...contents: object[]) {
  const forms: Form[] = []
  const { answers } = await askByForm([STORE, checks], 'folded', async form => {
    const content = contents[forms.push(form) - 1]
    return { action: 'accept', content }
  })
  return { answers, forms }
}

test.each([[undefined], [0]])(
  'a choice of several that nobody touched is skipped when at least %s are wanted',
  async minSelections => {
    const { answers, forms } = await fillIn({ ...CHECKS, minSelections }, { db: 'SQLite' })
    expect(answers).toEqual([
      { id: 'db', selected: ['SQLite'] },
      { id: 'f', selected: [] },
    ])
    expect(forms).toHaveLength(1)
  },
)

test('a choice of several of which one is wanted is asked for again by its name, and the rest stays', async () => {
  const untouched = { db: 'SQLite', f: [] }
  const { answers, forms } = await fillIn({ ...CHECKS, minSelections: 1 }, untouched, {
    db: 'SQLite',
    f: ['Types'],
  })
  expect(answers).toEqual([
    { id: 'db', selected: ['SQLite'] },
    { id: 'f', selected: ['Types'] },
  ])
  expect(forms).toHaveLength(2)
  expect(forms[1]?.message).toContain('That is no answer yet. Checks: holds 0 of at least 1 choices')
  expect(forms[1]?.requestedSchema.properties.db?.default).toBe('SQLite')
})
