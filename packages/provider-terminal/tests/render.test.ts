import type { Question } from '@handraise/user-questions/types'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineText, lineWidth } from '../src/line.ts'
import { painter } from '../src/paint.ts'
import { render, type Size } from '../src/render.ts'
import { openPrompt, type PromptState } from '../src/state.ts'
import { armed, NOON, press, screen } from './prompt-driver.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  header: 'Store',
  options: [{ label: 'Postgres', description: 'A server.' }, { label: 'SQLite (Recommended)' }],
}
const UNSAFE = 'Safe\u001b[2K\u001b[1A\u001b]0;x\u0007\u009b31mFAKE\u202e'
const HOSTILE: Question = {
  id: 'h',
  header: UNSAFE,
  question: `a\rb\bc\u0000 \u001b]8;;http://x\u0007link\u001b]8;;\u0007 \ud800`,
  detail: UNSAFE,
  options: [{ label: UNSAFE, description: UNSAFE }, { label: 'B' }],
}
const LONG: Question = {
  id: 'long',
  question: Array.from({ length: 2000 }, (_, index) => String.fromCharCode(97 + (index % 26))).join(''),
  options: [
    { label: 'B'.repeat(200), description: Array.from({ length: 120 }, () => 'word').join(' ') },
    { label: 'Short' },
  ],
}
const many: Question = {
  id: 'many',
  question: 'Which of them?',
  options: Array.from({ length: 200 }, (_, index) => ({ label: `Option ${index + 1}` })),
}

const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        ' ',
        '\n',
        '選択肢',
        '👨‍👩‍👧‍👦',
        '⚠️',
        '🇯🇵',
        '1️⃣',
        'क्षि',
        '\u001b[2J',
        '\u009b',
        '\u202e',
        'word',
      ),
    ),
    { maxLength: 30 },
  )
  .map(parts => parts.join(''))
const question: fc.Arbitrary<Question> = fc.record({
  id: fc.uuid(),
  question: text.map(each => `q${each}`),
  header: fc.option(text, { nil: undefined }),
  detail: fc.option(text, { nil: undefined }),
  multiSelect: fc.boolean(),
  guarded: fc.boolean(),
  options: fc
    .array(fc.record({ label: text, description: text }), { maxLength: 12 })
    .map(options => options.map((option, index) => ({ ...option, label: `${option.label}${index}` }))),
})
const key = fc.oneof(
  fc.constantFrom(
    'up',
    'down',
    'end',
    'home',
    'page-down',
    'page-up',
    'enter',
    ' ',
    'tab',
    'left',
    's',
    '1',
    'ctrl-t',
    'escape',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
)
const size = fc.record({ columns: fc.integer({ min: 0, max: 100 }), rows: fc.integer({ min: 0, max: 40 }) })
// Any prompt, after any keys.
const prompt = fc
  .record({
    questions: fc.array(question, { minLength: 1, maxLength: 3 }),
    keys: fc.array(key, { maxLength: 15 }),
    size,
  })
  .map(({ questions, keys, size: on }) => ({ state: press(armed(questions), keys, on), size: on }))

const shown = (state: PromptState, on: Size): string => screen(state, on).join('\n')

describe('a frame of any prompt on any terminal', () => {
  test('has fewer lines than rows, none wider than the columns', () => {
    fc.assert(
      fc.property(prompt, ({ state, size: on }) => {
        const { lines } = render(state, on)
        expect(lines.length).toBeLessThanOrEqual(on.rows === 0 ? 23 : Math.max(1, on.rows - 1))
        for (const line of lines)
          expect(lineWidth(line)).toBeLessThanOrEqual(on.columns === 0 ? 80 : on.columns)
      }),
      { numRuns: 100 },
    )
  })

  test('holds no control code, coloured or not', () => {
    fc.assert(
      fc.property(prompt, ({ state, size: on }) => {
        expect(shown(state, on)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/u)
        const painted = render(state, on).lines.map(painter(true)).join('\n')
        expect(painted.replace(/\u001b\[[0-9]{1,2}m/gu, '')).toBe(shown(state, on))
      }),
    )
  })

  test('shows what is in focus', () => {
    fc.assert(
      fc.property(
        prompt,
        fc.integer({ min: 20, max: 100 }),
        fc.integer({ min: 5, max: 40 }),
        ({ state }, columns, rows) => {
          const { view } = state
          const draft = view.name === 'question' ? state.drafts[view.index] : undefined
          if (draft === undefined || draft.focus < 0 || draft.editing) return
          expect(screen(state, { columns, rows }).some(line => line.startsWith('>'))).toBe(true)
        },
      ),
    )
  })

  test('shows where the person is writing', () => {
    fc.assert(
      fc.property(prompt, fc.integer({ min: 5, max: 40 }), ({ state, size: on }, rows) => {
        const { view } = state
        const writing =
          view.name === 'reply' || (view.name === 'question' && state.drafts[view.index]?.editing)
        const { cursor, lines } = render(state, { ...on, rows })
        expect(cursor !== undefined).toBe(writing)
        if (cursor === undefined) return
        expect(cursor.row).toBeLessThan(lines.length)
        expect(cursor.column).toBeLessThan(on.columns === 0 ? 80 : on.columns)
      }),
    )
  })

  test('shows the keys that work from five rows on', () => {
    fc.assert(
      fc.property(prompt, fc.integer({ min: 5, max: 40 }), ({ state, size: on }, rows) => {
        const roles = render(state, { ...on, rows })
          .lines.flat()
          .map(({ role }) => role)
        expect(roles).toContain('controls')
      }),
    )
  })
})

describe('long texts', () => {
  test.each([
    [20, 5],
    [40, 24],
    [80, 24],
    [1, 5],
    [0, 0],
    [80, 5],
  ])('are reachable to the last character on %i columns and %i rows', (columns, rows) => {
    const on = { columns, rows }
    // The mark of the focus moves along.
    const lines = (at: Size, state: PromptState): string[] =>
      screen(state, at).map(line => line.replace(/^>/u, ' '))
    let state = armed([LONG])
    const seen = new Set<string>()
    for (let more = true; more;) {
      const { viewport } = render(state, on)
      for (const line of lines(on, state)) seen.add(line)
      more = viewport.top + viewport.height < viewport.total
      state = press(state, ['page-down'], on)
    }
    const everything = lines({ columns, rows: 100_000 }, armed([LONG])).slice(0, -3)
    expect(everything.filter(line => !seen.has(line))).toEqual([])
  })

  test('keep the question in sight when it is scrolled away', () => {
    const on = { columns: 60, rows: 12 }
    const state = press(armed([many]), ['end'], on)
    expect(screen(state, on)[0]).toBe('Which of them?  lines 196-203 of 203')
    expect(shown(state, on)).toContain('> 201.')
  })

  test('are read from the beginning with the focus still in sight', () => {
    const plan: Question = {
      id: 'p',
      question: 'Go?',
      detail: Array.from({ length: 50 }, (_, index) => `step ${index + 1}`).join('\n'),
      options: [{ label: 'Go' }, { label: 'No' }],
      intent: { kind: 'plan-review', approve: 'Go' },
    }
    const on = { columns: 40, rows: 12 }
    const first = shown(armed([plan]), on)
    expect(first).toContain('step 1\n')
    expect(first).toContain('> 1. ( ) Go (approves the plan)')
    const next = shown(press(armed([plan]), ['page-down'], on), on)
    expect(next).toContain('step 6\n')
    expect(next).toContain('> 1. ( ) Go (approves the plan)')
  })

  test('turn page by page in a list with the focus along', () => {
    const on = { columns: 60, rows: 24 }
    let state = armed([many])
    for (let page = 0; page < 30; page += 1) {
      state = press(state, ['page-down'], on)
      expect(shown(state, on)).toMatch(/^>/mu)
    }
    expect(state.drafts[0]?.focus).toBe(200)
    for (let page = 0; page < 30; page += 1) state = press(state, ['page-up'], on)
    expect(state.drafts[0]?.focus).toBe(0)
    expect(shown(state, on)).toContain('Which of them?')
  })
})

describe('the picture of a question', () => {
  test('cuts a long header to twelve columns', () => {
    expect(screen(armed([{ ...STORE, header: 'Module & repo' }]))[0]).toBe('Module & re…')
  })

  test('shows a recommendation as a badge', () => {
    expect(screen(armed([STORE]))).toEqual([
      'Store',
      'Which store?',
      '',
      '> 1. ( ) Postgres',
      '         A server.',
      '  2. ( ) SQLite (recommended)',
      '  3. ( ) Type your own answer',
      '',
      'Enter choose · Esc decline · ↑↓ move · s skip · Ctrl-T write back',
      'Ctrl-X stop the turn · Ctrl-C dismiss',
    ])
  })

  test.each([
    [40, 12, ['Enter choose · Esc decline · ↑↓ move', 's skip · Ctrl-T write back']],
    [40, 9, ['Enter choose · Esc decline · ↑↓ move']],
    [20, 10, ['Enter choose', 'Esc decline · s skip']],
    [20, 6, ['Enter choose · Esc']],
  ])('names Enter and Esc first, on %i columns and %i rows too', (columns, rows, expected) => {
    const { lines } = render(armed([STORE]), { columns, rows })
    const controls = lines.filter(line => line.some(({ role }) => role === 'controls')).map(lineText)
    expect(controls).toEqual(expected)
  })

  test('offers to decline where there is no list to go back to', () => {
    const bare = armed([{ id: 'name', question: 'What is it called?' }])
    expect(shown(bare, { columns: 80, rows: 24 })).toContain('Enter confirm · Esc decline')
  })

  test('does not offer to skip what must be answered', () => {
    expect(shown(armed([{ ...STORE, minSelections: 1 }]), { columns: 80, rows: 24 })).not.toContain('skip')
  })

  test('writes control codes out and answers with the original', () => {
    const state = armed([HOSTILE])
    const all = shown(state, { columns: 80, rows: 40 })
    expect(all).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\ud800]/u)
    expect(all).toContain('Safe\\u001b[2K')
    expect(press(state, ['enter']).ending).toEqual({
      kind: 'answered',
      answers: [{ id: 'h', selected: [UNSAFE] }],
    })
  })

  test('keeps right-to-left text in its order and shows what would reorder it', () => {
    const rtl: Question = {
      id: 'r',
      question: 'Which?',
      header: 'اختيار',
      options: [{ label: 'בחירה (Recommended)' }, { label: 'safe\u202etxt.exe' }],
    }
    expect(screen(armed([rtl]))).toEqual(
      expect.arrayContaining(['اختيار', '> 1. ( ) בחירה (recommended)', '  2. ( ) safe\\u202etxt.exe']),
    )
  })

  test('says that keys do not count yet, and that early ones are ignored', () => {
    const early = openPrompt([STORE], { now: NOON })
    expect(screen(early).at(-1)).toBe('Keys count in a moment')
    expect(shown(press(early, ['enter']), { columns: 80, rows: 24 })).toContain('is ignored')
  })
})
