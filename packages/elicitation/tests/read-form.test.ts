import type { Question } from '@handraise/user-questions/types'
import { describe, expect, test } from 'vitest'
import { readForm } from '../src/index.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'Yes, always' }],
}
const CHECKS: Question = {
  id: 'checks',
  question: 'Which checks?',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}
const NAME: Question = { id: 'my name', question: 'What is it called?' }

/** The answers without their ids, or the faults as `path: message`. */
function read(questions: readonly Question[], content: unknown): unknown {
  const reading = readForm(questions, content)
  if (!reading.ok) return reading.issues.map(({ path, message }) => `${path}: ${message}`)
  return reading.answer.answers.map(({ id: _, ...answer }) => answer)
}

describe('the content of a form', () => {
  test('answers each question under its own id', () => {
    const content = {
      db: 'Yes, always',
      checks: ['Tests', 'Lint'],
      checks__other: 'docs',
      question_3: ' Ada, 2nd ',
    }
    expect(readForm([STORE, CHECKS, NAME], content)).toEqual({
      ok: true,
      answer: {
        answers: [
          { id: 'db', selected: ['Yes, always'] },
          { id: 'checks', selected: ['Lint', 'Tests'], custom: 'docs' },
          { id: 'my name', selected: [], custom: ' Ada, 2nd ' },
        ],
      },
    })
  })

  test('without a value skips', () => {
    const skips = [{ selected: [] }, { selected: [] }, { selected: [] }]
    expect(read([STORE, CHECKS, NAME], {})).toEqual(skips)
    const empty = { db: '', db__other: ' ', checks: [], checks__other: null, question_3: '' }
    expect(read([STORE, CHECKS, NAME], empty)).toEqual(skips)
    expect(read([STORE], { db: null })).toEqual([{ selected: [] }])
  })

  test('may hold properties nobody asked for', () => {
    expect(read([STORE], { db: 'Postgres', other: {}, toString: 1 })).toEqual([{ selected: ['Postgres'] }])
  })

  test('is not found in the prototype of an object', () => {
    expect(read([{ ...NAME, id: 'name' }], Object.create({ name: 'x' }) as object)).not.toEqual([
      { selected: [], custom: 'x' },
    ])
  })

  test.each([[undefined], [null], ['Postgres'], [['Postgres']], [7]])('is no %j', content => {
    expect(read([STORE], content)).toEqual([': an accepted form comes with its content, an object'])
  })
})

describe('a choice', () => {
  test('is made by words where only words are there', () => {
    expect(read([STORE], { db__other: 'the small one' })).toEqual([{ selected: [], custom: 'the small one' }])
    expect(read([STORE], { db: '', db__other: 'the small one' })).toEqual([
      { selected: [], custom: 'the small one' },
    ])
  })

  test('together with words is a fault where one thing is asked', () => {
    const faults = ['db__other: choose one, or write an answer of your own; not both']
    expect(read([STORE], { db: 'Postgres', db__other: 'the small one' })).toEqual(faults)
    expect(read([STORE], { db: 'Postgres', db__other: '  ' })).toEqual([{ selected: ['Postgres'] }])
  })

  test('must have been offered', () => {
    expect(read([STORE], { db: 'postgres' })).toEqual([
      'db: "postgres" was not offered; offered: "Postgres", "Yes, always"',
    ])
    expect(read([CHECKS], { checks: ['Lint', 'Docs'] })).toEqual([
      'checks: "Docs" was not offered; offered: "Lint", "Types", "Tests"',
    ])
  })

  test('that means words must come with them', () => {
    const question = { ...STORE, options: [{ label: 'Allow' }, { label: 'Other' }] }
    expect(read([question], { db: 'Other' })).toEqual(['db: "Other" is said in words, in db__other'])
    expect(read([question], { db__other: 'not now' })).toEqual([{ selected: [], custom: 'not now' }])
  })

  test('keeps to how many may be chosen, words counted as one', () => {
    const two = { ...CHECKS, minSelections: 2, maxSelections: 2 }
    expect(read([two], { checks: ['Lint'] })).toEqual(['checks: holds 1 of at least 2 choices'])
    expect(read([two], { checks: ['Lint'], checks__other: 'docs' })).toEqual([
      { selected: ['Lint'], custom: 'docs' },
    ])
    expect(read([two], { checks: ['Lint', 'Types'], checks__other: 'docs' })).toEqual([
      'checks: holds 3 of at most 2 choices',
    ])
    expect(read([{ ...STORE, minSelections: 1 }], {})).toEqual(['db: holds 0 of at least 1 choices'])
  })

  test('of several may come as one label', () => {
    expect(read([CHECKS], { checks: 'Lint' })).toEqual([{ selected: ['Lint'] }])
    expect(read([CHECKS], { checks: 'Lint, Types' })).toHaveLength(1)
  })
})

describe('what cannot be read', () => {
  test('is named by its path, every fault of it', () => {
    const content = { db: 7, db__other: false, checks: ['Lint', 3], question_3: { a: 1 } }
    expect(read([STORE, CHECKS, NAME], content)).toEqual([
      'db: Invalid input: expected string, received number',
      'db__other: Invalid input: expected string, received boolean',
      'checks[1]: Invalid input: expected string, received number',
      'question_3: Invalid input: expected string, received object',
    ])
  })

  test('leaves standing what is answered well', () => {
    const reading = readForm([STORE, CHECKS, NAME], { db: 'MySQL', checks: ['Lint'], question_3: 'Ada' })
    expect(reading.ok ? undefined : reading.kept).toEqual([
      { id: 'checks', selected: ['Lint'] },
      { id: 'my name', selected: [], custom: 'Ada' },
    ])
  })
})
