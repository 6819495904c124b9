import {
  checkAnswer,
  checkQuestions,
  checkValue,
  isBlank,
  isSkip,
  keepValidAnswers,
  type Answer,
  type Question,
} from '@handraise/user-questions'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exchanges, type Exchange } from './generated-questions.ts'

const DB: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
const CHECKS: Question = {
  id: 'checks',
  question: 'Which checks?',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}
const NAME: Question = { id: 'name', question: 'What is it called?' }

const accepted = (questions: readonly Question[], answers: unknown): readonly Answer[] => {
  const check = checkAnswer(questions, { answers })
  if (!check.ok) return expect.fail(JSON.stringify(check.issues))
  return check.answer.answers
}

const faults = (questions: readonly Question[], value: unknown): string[] => {
  const check = checkAnswer(questions, value)
  return check.ok ? [] : check.issues.map(({ path, message }) => `${path}: ${message}`)
}

describe('an answer that holds', () => {
  test('is accepted, whatever its order', () => {
    fc.assert(
      fc.property(exchanges, ({ questions, answers }) => {
        expect(checkQuestions(questions)).toEqual([])
        expect(accepted(questions, answers)).toHaveLength(questions.length)
      }),
    )
  })

  test('comes back in the order asked and offered', () => {
    fc.assert(
      fc.property(exchanges, ({ questions, answers }) => {
        const result = accepted(questions, answers)
        expect(result.map(({ id }) => id)).toEqual(questions.map(({ id }) => id))
        result.forEach(({ id, selected }, index) => {
          const given = answers.find(answer => answer.id === id)
          const offered = questions[index]?.options?.map(({ label }) => label) ?? []
          expect(selected).toEqual(offered.filter(label => given?.selected.includes(label)))
        })
      }),
    )
  })

  test('loses blank texts and nothing else', () => {
    fc.assert(
      fc.property(exchanges, ({ questions, answers }) => {
        for (const answer of accepted(questions, answers)) {
          const given = answers.find(({ id }) => id === answer.id)
          expect(answer.custom).toBe(isBlank(given?.custom) ? undefined : given?.custom)
          expect(answer.note).toBe(isBlank(given?.note) ? undefined : given?.note)
          expect(answer.by).toBe(given?.by)
          expect([...answer.selected].toSorted()).toEqual([...(given?.selected ?? [])].toSorted())
        }
      }),
    )
  })

  test('stays as it is when it is checked again', () => {
    fc.assert(
      fc.property(exchanges, ({ questions, answers }) => {
        const once = accepted(questions, answers)
        expect(accepted(questions, once)).toEqual(once)
        expect(keepValidAnswers(questions, answers)).toEqual(once)
      }),
    )
  })

  test('is left unchanged by the check', () => {
    fc.assert(
      fc.property(exchanges, ({ questions, answers }) => {
        const before = structuredClone({ questions, answers })
        checkAnswer(questions, { answers })
        expect({ questions, answers }).toEqual(before)
      }),
    )
  })

  test('survives the way over the wire', () => {
    fc.assert(
      fc.property(exchanges, ({ questions, answers }) => {
        const once = accepted(questions, answers)
        expect(accepted(questions, JSON.parse(JSON.stringify(once)))).toEqual(once)
      }),
    )
  })
})

/** Breaks one rule of a valid exchange, where it can be broken, and says where the fault is named. */
interface Mutation {
  readonly breaks: string
  readonly apply: (exchange: Exchange, pick: number) => Broken | undefined
}

interface Broken extends Exchange {
  readonly path: string
  readonly message: string
}

/** Changes the answer at `pick`, and its question. */
const changed = (
  { questions, answers }: Exchange,
  pick: number,
  change: (
    question: Question,
    answer: Answer,
  ) => (Partial<Broken> & { question?: Question; answer?: Answer }) | undefined,
): Broken | undefined => {
  const index = pick % answers.length
  const answer = answers[index] as Answer
  const question = questions.find(({ id }) => id === answer.id) as Question
  const result = change(question, answer)
  if (result === undefined) return undefined
  return {
    questions: questions.map(each => (each === question ? (result.question ?? each) : each)),
    answers: answers.map(each => (each === answer ? (result.answer ?? each) : each)),
    path: `answers[${index}]${result.path ?? '.selected'}`,
    message: result.message ?? '',
  }
}

const chosenIn = ({ selected, custom }: Answer): number => selected.length + (isBlank(custom) ? 0 : 1)

const MUTATIONS: readonly Mutation[] = [
  {
    breaks: 'a question without an entry',
    apply: ({ questions, answers }, pick) => {
      const index = pick % answers.length
      return {
        questions,
        answers: answers.toSpliced(index, 1),
        path: 'answers',
        message: `question ${JSON.stringify(answers[index]?.id)} has no entry`,
      }
    },
  },
  {
    breaks: 'an id that was not asked',
    apply: ({ questions, answers }) => {
      const id = questions.map(question => question.id).join('+') + '!'
      return {
        questions,
        answers: [...answers, { id, selected: [] }],
        path: `answers[${answers.length}].id`,
        message: 'was not asked',
      }
    },
  },
  {
    breaks: 'an id that is answered twice',
    apply: ({ questions, answers }, pick) => ({
      questions,
      answers: [...answers, answers[pick % answers.length] as Answer],
      path: `answers[${answers.length}].id`,
      message: 'is answered twice',
    }),
  },
  {
    breaks: 'a label that was not offered',
    apply: (exchange, pick) =>
      changed(exchange, pick, (question, answer) => {
        const label = `${question.options?.map(option => option.label).join('') ?? ''}?`
        const message = question.options === undefined ? 'the question offers no options' : 'was not offered'
        return { answer: { ...answer, selected: [label] }, message }
      }),
  },
  {
    breaks: 'a label in another case than offered',
    apply: (exchange, pick) =>
      changed(exchange, pick, ({ options = [] }, answer) => {
        const label = options
          .map(option => option.label.toUpperCase())
          .find(upper => !options.some(option => option.label === upper))
        return label === undefined
          ? undefined
          : { answer: { ...answer, selected: [label] }, message: 'was not offered' }
      }),
  },
  {
    breaks: 'the same label twice',
    apply: (exchange, pick) =>
      changed(exchange, pick, ({ options = [] }, answer) => {
        const label = options[0]?.label
        if (label === undefined) return undefined
        return { answer: { ...answer, selected: [label, label] }, message: 'holds the same label twice' }
      }),
  },
  {
    breaks: 'two labels for a single choice',
    apply: (exchange, pick) =>
      changed(exchange, pick, ({ options = [], multiSelect }, answer) => {
        if (multiSelect === true || options.length < 2) return undefined
        const selected = options.slice(0, 2).map(({ label }) => label)
        return { answer: { ...answer, selected }, message: 'holds more than one label' }
      }),
  },
  {
    breaks: 'text beside a single choice',
    apply: (exchange, pick) =>
      changed(exchange, pick, ({ options = [], multiSelect }, answer) => {
        const label = options[0]?.label
        if (multiSelect === true || label === undefined) return undefined
        return {
          answer: { ...answer, selected: [label], custom: 'x' },
          path: '.custom',
          message: 'stands beside a label',
        }
      }),
  },
  {
    breaks: 'fewer choices than the least',
    apply: (exchange, pick) =>
      changed(exchange, pick, (question, answer) => {
        const minSelections = chosenIn(answer) + 1
        return { question: { ...question, minSelections }, message: `of at least ${minSelections} choices` }
      }),
  },
  {
    breaks: 'more choices than the most',
    apply: (exchange, pick) =>
      changed(exchange, pick, (question, answer) => {
        const maxSelections = chosenIn(answer) - 1
        if (maxSelections < 0) return undefined
        return {
          question: { ...question, minSelections: 0, maxSelections },
          message: `of at most ${maxSelections} choices`,
        }
      }),
  },
]

describe('an answer is refused, and the fault named,', () => {
  for (const { breaks, apply } of MUTATIONS) {
    test(`for ${breaks}`, () => {
      fc.assert(
        fc.property(exchanges, fc.nat(), (exchange, pick) => {
          const broken = apply(exchange, pick)
          fc.pre(broken !== undefined)
          const check = checkAnswer(broken.questions, { answers: broken.answers })
          expect(check.ok).toBe(false)
          const named = check.ok ? [] : check.issues.filter(issue => issue.path === broken.path)
          expect(named.map(({ message }) => message).join('; ')).toContain(broken.message)
        }),
      )
    })
  }

  test('for anything that is not shaped like one', () => {
    fc.assert(
      fc.property(fc.anything(), value => {
        expect(checkAnswer([DB], value).ok).toBe(false)
        expect(faults([DB], value)).not.toEqual([])
      }),
    )
  })

  test('for each of several faults at once', () => {
    const answers = [
      { id: 'checks', selected: ['Lint', 'Style'] },
      { id: 'db', selected: ['SQLite'], custom: 'the small one' },
      { id: 'checks', selected: [] },
      { id: 'gone', selected: [] },
    ]
    expect(faults([DB, CHECKS, NAME], { answers })).toEqual([
      'answers[2].id: "checks" is answered twice',
      'answers[3].id: "gone" was not asked',
      'answers[1].custom: stands beside a label; on a single-select question custom text replaces the choice',
      'answers[0].selected: "Style" was not offered; offered: "Lint", "Types", "Tests"',
      'answers: question "name" has no entry; a skip is { id, selected: [] }',
    ])
  })

  test('for a label where the question asks for text', () => {
    expect(faults([NAME], { answers: [{ id: 'name', selected: ['Handraise'] }] })).toEqual([
      'answers[0].selected: "Handraise" cannot be chosen: the question offers no options; put the text in custom',
    ])
  })

  test('for an empty success', () => {
    expect(faults([DB], { answers: [] })).toEqual([
      'answers: question "db" has no entry; a skip is { id, selected: [] }',
    ])
  })
})

describe('the answer rules', () => {
  test('keep a label with a comma in it as one label', () => {
    const question = { ...CHECKS, options: [{ label: 'Yes, always' }, { label: 'Yes' }] }
    const answers = [{ id: 'checks', selected: ['Yes, always'] }]
    expect(accepted([question], answers)).toEqual(answers)
    expect(faults([question], { answers: [{ id: 'checks', selected: 'Yes, always' }] })).toEqual([
      'answers[0].selected: Invalid input: expected array, received string',
    ])
  })

  test('keep ticks and text of a multi-select together', () => {
    const answers = [{ id: 'checks', selected: ['Tests', 'Lint'], custom: 'also docs, please' }]
    expect(accepted([CHECKS], answers)).toEqual([
      { id: 'checks', selected: ['Lint', 'Tests'], custom: 'also docs, please' },
    ])
  })

  test('let a question be skipped unless it asks for a choice', () => {
    const skip = [{ id: 'checks', selected: [] }]
    expect(accepted([CHECKS], skip)).toEqual(skip)
    expect(accepted([{ ...CHECKS, minSelections: 0 }], skip)).toEqual(skip)
    expect(faults([{ ...CHECKS, minSelections: 1 }], { answers: skip })).toEqual([
      'answers[0].selected: holds 0 of at least 1 choices',
    ])
  })

  test('count custom text as a choice', () => {
    const bounded = { ...CHECKS, minSelections: 1, maxSelections: 2 }
    expect(checkValue(bounded, { selected: [], custom: 'docs' }, 'a')).toEqual([])
    expect(checkValue(bounded, { selected: ['Lint', 'Types'], custom: 'docs' }, 'a')).toEqual([
      { path: 'a.selected', message: 'holds 3 of at most 2 choices' },
    ])
    expect(checkValue(bounded, { selected: [], custom: ' ' }, 'a')).toHaveLength(1)
  })

  test('return labels and custom text word for word', () => {
    const label = 'Safe\u001b[2K\u202e'
    const answers = [
      { id: 'db', selected: [label] },
      { id: 'name', selected: [], custom: ' wait\r\n\u0000 ' },
    ]
    expect(accepted([{ ...DB, options: [{ label }] }, NAME], answers)).toEqual(answers)
  })

  test('drop fields that are no part of an answer', () => {
    expect(accepted([DB], [{ id: 'db', selected: ['SQLite'], approved: true }])).toEqual([
      { id: 'db', selected: ['SQLite'] },
    ])
  })
})

describe('the answers kept from an unfinished batch', () => {
  test('are those that hold, in the order asked', () => {
    const answers = [
      { id: 'name', selected: [], custom: 'Handraise' },
      { id: 'checks', selected: ['Style'] },
      { id: 'db', selected: ['SQLite'] },
      { id: 'db', selected: ['Postgres'] },
      { id: 'gone', selected: [] },
    ]
    expect(keepValidAnswers([DB, CHECKS, NAME], answers)).toEqual([
      { id: 'db', selected: ['SQLite'] },
      { id: 'name', selected: [], custom: 'Handraise' },
    ])
  })

  test('are none of what is not shaped like an answer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.array(fc.anything())), value => {
        expect(keepValidAnswers([DB], value as never)).toEqual([])
      }),
    )
  })
})

test('a skip is an answer that chooses and says nothing', () => {
  expect(isSkip({ selected: [] })).toBe(true)
  expect(isSkip({ selected: [], custom: ' \n' })).toBe(true)
  expect(isSkip({ selected: [], custom: 'x' })).toBe(false)
  expect(isSkip({ selected: ['SQLite'] })).toBe(false)
})
