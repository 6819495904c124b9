import {
  checkQuestions,
  describeIssues,
  findIntentFault,
  questionSchema,
  type Question,
} from '@handraise/user-questions'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { questions } from './generated-questions.ts'

const DB: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}

const faults = (...asked: unknown[]): string[] =>
  checkQuestions(asked as Question[]).map(issue => describeIssues([issue]))

describe('questions are sound', () => {
  test('when nothing in them is blank or doubled', () => {
    fc.assert(
      fc.property(questions(), question => {
        expect(checkQuestions([question])).toEqual([])
        expect(questionSchema.parse(question)).toEqual(question)
      }),
    )
  })

  test('with header and text repeated under different ids', () => {
    expect(faults({ ...DB, header: 'Store' }, { ...DB, header: 'Store', id: 'other' })).toEqual([])
  })

  test('with a header of any length', () => {
    expect(faults({ ...DB, header: 'Module & repo' })).toEqual([])
  })

  test('with one option, none, or an empty list', () => {
    expect(faults({ ...DB, options: [{ label: 'Yes' }] })).toEqual([])
    expect(faults({ id: 'a', question: 'b' })).toEqual([])
    expect(faults({ ...DB, options: [] })).toEqual([])
  })

  test('with the label that means free text', () => {
    expect(faults({ ...DB, options: ['A', 'Other', 'Something else'].map(label => ({ label })) })).toEqual([])
  })

  test('with null where a field is absent', () => {
    const absent = { options: null, minSelections: null, maxSelections: null, default: null, intent: null }
    expect(faults({ id: 'a', question: 'b', ...absent })).toEqual([])
    expect(findIntentFault([{ id: 'a', question: 'b', ...absent } as never])).toBeUndefined()
  })
})

describe('questions cannot be asked', () => {
  test('with a blank or repeated id', () => {
    expect(faults({ ...DB, id: '' }, { ...DB, id: '\t' }, DB, { ...DB })).toEqual([
      'questions[0].id: must not be blank',
      'questions[1].id: must not be blank',
      'questions[3].id: "db" is used twice',
    ])
  })

  test('with a blank text', () => {
    expect(faults({ ...DB, question: ' ' })).toEqual(['questions[0].question: must not be blank'])
  })

  test('with labels that are blank or cannot be told apart', () => {
    const options = ['Yes', 'yes ', 'YES', ' ', 'e\u0301', '\u00c9'].map(label => ({ label }))
    expect(faults({ ...DB, options })).toEqual([
      'questions[0].options[1].label: "yes " cannot be told apart from "Yes"; give each option its own label',
      'questions[0].options[2].label: "YES" cannot be told apart from "yes "; give each option its own label',
      'questions[0].options[3].label: must not be blank',
      'questions[0].options[5].label: "\u00c9" cannot be told apart from "e\u0301"; give each option its own label',
    ])
  })

  test('with the wrong types, each named with what came', () => {
    expect(checkQuestions('db' as never).map(issue => describeIssues([issue]))).toEqual([
      'questions: expected an array, got string',
    ])
    expect(
      faults(null, 'db', ['db'], { id: 7, options: {} }, { ...DB, options: [null, 'x', { label: 7 }] }),
    ).toEqual([
      'questions[0]: expected an object, got null',
      'questions[1]: expected an object, got string',
      'questions[2]: expected an object, got an array',
      'questions[3].id: expected a string, got number',
      'questions[3].question: expected a string, got nothing',
      'questions[3].options: expected an array, got object',
      'questions[4].options[0].label: expected a string, got nothing',
      'questions[4].options[1].label: expected a string, got nothing',
      'questions[4].options[2].label: expected a string, got number',
    ])
  })

  test('with a number of choices nobody can make', () => {
    const many = { ...DB, multiSelect: true }
    expect(
      faults(
        { ...many, minSelections: 3, maxSelections: 3 },
        { ...DB, id: 'one', minSelections: 1, maxSelections: 1 },
      ),
    ).toEqual([])
    expect(faults({ ...many, minSelections: 4 })).toEqual([
      'questions[0].minSelections: expected a whole number from 0 to 3, got 4',
    ])
    expect(faults({ ...many, maxSelections: 0 }, { ...many, id: 'b', maxSelections: 1.5 })).toEqual([
      'questions[0].maxSelections: expected a whole number from 1 to 3, got 0',
      'questions[1].maxSelections: expected a whole number from 1 to 3, got 1.5',
    ])
    expect(faults({ ...DB, minSelections: 2 })).toEqual([
      'questions[0].minSelections: expected a whole number from 0 to 1, got 2',
    ])
    expect(faults({ ...many, minSelections: 2, maxSelections: 1 })).toEqual([
      'questions[0].minSelections: 2 is more than maxSelections, 1',
    ])
    expect(faults({ ...many, minSelections: '1' })).toEqual([
      'questions[0].minSelections: expected a whole number from 0 to 3, got string',
    ])
  })

  test('with a default that is no answer to them', () => {
    expect(faults({ ...DB, default: { selected: ['SQLite'] } })).toEqual([])
    expect(faults({ ...DB, default: { selected: ['MySQL'] } })).toEqual([
      'questions[0].default.selected: "MySQL" was not offered; offered: "Postgres", "SQLite"',
    ])
    expect(faults({ ...DB, default: 'SQLite' })).toEqual([
      'questions[0].default: expected { selected: [labels], custom? }',
    ])
    expect(faults({ ...DB, multiSelect: true, minSelections: 1, default: { selected: [] } })).toEqual([
      'questions[0].default.selected: holds 0 of at least 1 choices',
    ])
  })

  test('whatever nonsense they are, and the check never throws', () => {
    fc.assert(
      fc.property(fc.array(fc.anything(), { minLength: 1 }), asked => {
        expect(checkQuestions(asked as never).length).toBeGreaterThan(0)
        findIntentFault(asked as never)
      }),
    )
  })
})

describe('an intent', () => {
  const PLAN: Question = { ...DB, detail: 'The plan', intent: { kind: 'plan-review', approve: 'SQLite' } }

  test('holds when it approves an option and shows what it reviews', () => {
    expect(findIntentFault([DB, PLAN])).toBeUndefined()
  })

  test('approves a label exactly as it is offered', () => {
    for (const approve of ['sqlite', 'SQLite ', '']) {
      expect(findIntentFault([{ ...PLAN, intent: { kind: 'plan-review', approve } }])).toEqual({
        question: 'db',
        kind: 'plan-review',
        approve,
        fault: 'approve',
      })
    }
  })

  test('is faulted by the first question that breaks it, label before detail', () => {
    const { detail: _, ...undetailed } = PLAN
    const { options: __, ...neither } = undetailed
    expect(findIntentFault([PLAN, { ...undetailed, id: 'a' }, { ...neither, id: 'b' }])).toMatchObject({
      question: 'a',
      fault: 'detail',
    })
    expect(findIntentFault([{ ...neither, id: 'b' }])).toMatchObject({ question: 'b', fault: 'approve' })
  })
})
