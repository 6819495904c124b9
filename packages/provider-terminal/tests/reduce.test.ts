import type { Question } from '@handraise/user-questions/types'
import { describe, expect, test } from 'vitest'
import { reduce } from '../src/reduce.ts'
import { openPrompt, type PromptState } from '../src/state.ts'
import { armed, keyOf, NOON, press, screen } from './prompt-driver.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
const CACHE: Question = { ...STORE, id: 'cache', question: 'Which cache?' }
const CHECKS: Question = {
  id: 'f',
  question: 'Which checks?',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}
const NAME: Question = { id: 'name', question: 'What is it called?' }

const many = (count: number, more: Partial<Question> = {}): Question => ({
  id: 'many',
  question: 'Which?',
  options: Array.from({ length: count }, (_, index) => ({ label: `Option ${index + 1}` })),
  ...more,
})

function answers(questions: Question[], ...keys: string[]): unknown {
  const { ending } = press(armed(questions), keys)
  return ending?.kind === 'answered' ? ending.answers : ending
}

const ending = (state: PromptState): unknown => state.ending

describe('choosing', () => {
  test('answers with the focused option on Enter', () => {
    expect(answers([STORE], 'down', 'enter')).toEqual([{ id: 'db', selected: ['SQLite'] }])
    expect(answers([STORE], 'j', 'enter')).toEqual([{ id: 'db', selected: ['SQLite'] }])
  })

  test('focuses the option of a digit and chooses nothing yet', () => {
    const state = press(armed([STORE]), ['2'])
    expect(ending(state)).toBeUndefined()
    expect(ending(press(state, ['enter']))).toEqual({
      kind: 'answered',
      answers: [{ id: 'db', selected: ['SQLite'] }],
    })
  })

  test('reads two digits as one number where there are as many options', () => {
    expect(answers([many(15)], '1', '2', 'enter')).toEqual([{ id: 'many', selected: ['Option 12'] }])
  })

  test('starts a number anew when two digits make none', () => {
    expect(answers([many(15)], '1', '9', 'enter')).toEqual([{ id: 'many', selected: ['Option 9'] }])
    expect(answers([STORE], '1', '2', 'enter')).toEqual([{ id: 'db', selected: ['SQLite'] }])
  })

  test('stops at the first and the last row', () => {
    expect(answers([STORE], 'up', 'up', 'enter')).toEqual([{ id: 'db', selected: ['Postgres'] }])
    expect(press(armed([STORE]), ['down', 'down', 'down', 'down']).drafts[0]?.focus).toBe(2)
  })

  test('keeps the whole label though a badge is shown', () => {
    const question = { ...STORE, options: [{ label: 'SQLite (Recommended)' }] }
    expect(answers([question], 'enter')).toEqual([{ id: 'db', selected: ['SQLite (Recommended)'] }])
  })

  test('ticks with Space and with digits and goes on with Enter', () => {
    expect(answers([CHECKS], ' ', '3', 'enter')).toEqual([{ id: 'f', selected: ['Lint', 'Tests'] }])
    expect(answers([CHECKS], '3', '1', '3', 'enter')).toEqual([{ id: 'f', selected: ['Lint'] }])
  })

  test('ticks nothing by a digit that may be the first of two', () => {
    expect(press(armed([many(15, { multiSelect: true })]), ['1', '2']).drafts[0]?.ticked).toEqual([])
  })

  test('does nothing on keys without a meaning', () => {
    const state = press(armed([STORE]), ['unbound', 'x', ' '])
    expect(state.drafts).toEqual(armed([STORE]).drafts)
    expect(ending(state)).toBeUndefined()
  })

  test('focuses nothing in a guarded question until a key moves there', () => {
    const guarded = { ...STORE, guarded: true }
    const state = press(armed([guarded]), ['enter', 'enter', ' ', 'page-down', 'enter'])
    expect(ending(state)).toBeUndefined()
    expect(state.hint).toBe('Nothing is chosen yet: move to an option first')
    expect(answers([guarded], 'enter', 'down', 'enter')).toEqual([{ id: 'db', selected: ['Postgres'] }])
  })
})

describe("an answer of one's own", () => {
  test('replaces the choice of a single-select', () => {
    expect(answers([STORE], 'end', 'the small one', 'enter')).toEqual([
      { id: 'db', selected: [], custom: 'the small one' },
    ])
  })

  test('stands beside the ticks of a multi-select', () => {
    expect(answers([CHECKS], '1', '3', 'end', 'enter', 'also docs, please', 'enter')).toEqual([
      { id: 'f', selected: ['Lint', 'Tests'], custom: 'also docs, please' },
    ])
  })

  test('does nothing while it is empty and says so', () => {
    const state = press(armed([STORE]), ['end', 'enter', 'enter'])
    expect(ending(state)).toBeUndefined()
    expect(state.hint).toBe('Type something first, or Esc to go back')
    expect(ending(press(state, ['x', 'enter']))).toEqual({
      kind: 'answered',
      answers: [{ id: 'db', selected: [], custom: 'x' }],
    })
  })

  test('takes the place of an authored Other, and of nothing else', () => {
    const rows = (...labels: string[]): string[] =>
      screen(armed([{ ...STORE, options: labels.map(label => ({ label })) }])).filter(line =>
        /^.\s*\d\./u.test(line),
      )
    expect(rows('A', 'B', 'Other')).toHaveLength(3)
    expect(rows('A', 'Other', 'B')).toEqual([
      '> 1. ( ) A',
      '  2. ( ) B',
      '  3. ( ) Other: type your own answer',
    ])
    expect(rows('A', 'Something else', 'Other (please specify)')).toHaveLength(4)
    expect(rows('A', 'Type your own answer')[2]).toBe('  3. ( ) Write an answer of your own')
  })

  test('keeps an Other that approves a plan as a choice', () => {
    const plan: Question = {
      id: 'p',
      question: 'Go?',
      detail: 'The plan.',
      options: [{ label: 'Other' }, { label: 'No' }],
      intent: { kind: 'plan-review', approve: 'Other' },
    }
    expect(answers([plan], 'enter')).toEqual([{ id: 'p', selected: ['Other'] }])
  })

  test('is written at once where there are no options', () => {
    expect(answers([NAME], '1 Ask s', 'enter')).toEqual([{ id: 'name', selected: [], custom: '1 Ask s' }])
  })

  test('takes a paste as text and never as keys', () => {
    const pasted = reduce(armed([NAME]), { type: 'paste', text: 'a\rb', now: NOON })
    expect(pasted.drafts[0]?.editor.text).toBe('a b')
    expect(reduce(armed([STORE]), { type: 'paste', text: '2\r', now: NOON }).drafts).toEqual(
      armed([STORE]).drafts,
    )
  })
})

describe('skipping', () => {
  test('answers with an empty choice', () => {
    expect(answers([STORE], 's')).toEqual([{ id: 'db', selected: [] }])
    expect(answers([NAME], 'abc', 'ctrl-s')).toEqual([{ id: 'name', selected: [] }])
  })

  test('is refused where a choice is required', () => {
    const state = press(armed([{ ...STORE, minSelections: 1 }]), ['s'])
    expect(ending(state)).toBeUndefined()
    expect(state.hint).toBe('This one needs an answer and cannot be skipped')
  })

  test.each([
    [undefined, 'skipped'],
    [0, 'none chosen'],
  ])('counts a multi-select with nothing ticked and at least %s as %s', (minSelections, shown) => {
    const asked = minSelections === undefined ? ['enter'] : []
    const state = press(armed([STORE, { ...CHECKS, minSelections }]), ['enter', ...asked, 'enter'])
    expect(screen(state).join('\n')).toContain(shown)
    expect(screen(state)[0]).toBe('Your answers: 1 of 2 answered')
    expect(ending(press(state, ['enter']))).toEqual({
      kind: 'answered',
      answers: [
        { id: 'db', selected: ['Postgres'] },
        { id: 'f', selected: [] },
      ],
    })
  })

  test('by Enter on a multi-select with nothing ticked is said first, and taken back by any other key', () => {
    const told = press(armed([CHECKS]), ['down', 'enter'])
    expect(ending(told)).toBeUndefined()
    expect(told.hint).toBe('Nothing is ticked: Space ticks, Enter again skips')
    expect(ending(press(told, ['up', 'enter']))).toBeUndefined()
    expect(ending(press(told, [' ', 'enter']))).toMatchObject({ answers: [{ selected: ['Types'] }] })
    expect(ending(press(told, ['enter']))).toMatchObject({ answers: [{ selected: [] }] })
  })

  test('stays at a multi-select that needs a tick', () => {
    const state = press(armed([STORE, { ...CHECKS, minSelections: 1 }]), ['enter', 'enter'])
    expect(state.view).toMatchObject({ name: 'question', index: 1 })
    expect(state.hint).toBe('Choose at least 1')
  })

  test('stays at a multi-select with too many ticks', () => {
    expect(press(armed([{ ...CHECKS, maxSelections: 1 }]), ['1', '2', 'enter']).hint).toBe('Choose at most 1')
  })
})

describe('several questions', () => {
  test('are reviewed before they are sent', () => {
    const state = press(armed([STORE, CACHE]), ['down', 'enter', 'enter'])
    expect(state.view.name).toBe('review')
    expect(ending(state)).toBeUndefined()
    expect(ending(press(state, ['enter']))).toMatchObject({ kind: 'answered' })
  })

  test('keep what was confirmed and what is half typed when the person goes back', () => {
    const a: Question = { ...NAME, id: 'a' }
    const b: Question = { ...NAME, id: 'b' }
    const back = press(armed([a, b]), ['alpha', 'enter', 'be', 'shift-tab'])
    expect(back.view).toMatchObject({ index: 0 })
    expect(screen(back).join('\n')).toContain('alpha')
    const done = press(back, ['tab', 'ta', 'enter', 'enter'])
    expect(ending(done)).toEqual({
      kind: 'answered',
      answers: [
        { id: 'a', selected: [], custom: 'alpha' },
        { id: 'b', selected: [], custom: 'beta' },
      ],
    })
  })

  test('go back by the left arrow in a list', () => {
    const state = press(armed([STORE, CACHE]), ['down', 'enter', 'left'])
    expect(state.view).toMatchObject({ index: 0 })
    expect(screen(state)).toContain('> 2. (x) SQLite')
    expect(press(armed([STORE]), ['left']).hint).toBe('This is the first question')
  })

  test('do not go forward past one that is not answered', () => {
    const state = press(armed([STORE, CACHE]), ['tab'])
    expect(state.view).toMatchObject({ index: 0 })
    expect(state.hint).toBe('Choose or type an answer first, or skip')
  })

  test('can be changed from the review', () => {
    const state = press(armed([STORE, CACHE]), ['enter', 'enter', 'up', 'up', 'enter'])
    expect(state.view).toEqual({ name: 'question', index: 0, fromReview: true })
    expect(ending(press(state, ['2', 'enter', 'enter']))).toMatchObject({
      answers: [
        { id: 'db', selected: ['SQLite'] },
        { id: 'cache', selected: ['Postgres'] },
      ],
    })
  })

  test('send ticks that are seen when the person goes on without Enter', () => {
    const back = press(armed([CHECKS, STORE]), ['1', 'enter', 'left', '2', 'tab', 'enter', 'enter'])
    expect(ending(back)).toMatchObject({ answers: [{ selected: ['Lint', 'Types'] }, {}] })
  })
})

describe('keys before the prompt could be read', () => {
  test('neither answer nor move anything', () => {
    const state = press(openPrompt([STORE], { now: NOON }), [
      'enter',
      ' ',
      'y',
      '1',
      'down',
      'escape',
      'escape',
      'ctrl-d',
    ])
    expect(ending(state)).toBeUndefined()
    expect(state.engaged).toBe(false)
    expect(state.drafts).toEqual(openPrompt([STORE], { now: NOON }).drafts)
    expect(ending(press(reduce(state, { type: 'arm' }), ['2', 'enter']))).toMatchObject({
      answers: [{ selected: ['SQLite'] }],
    })
  })

  test('dismiss all the same when they are Ctrl-C', () => {
    expect(ending(press(openPrompt([STORE], { now: NOON }), ['ctrl-c']))).toMatchObject({ kind: 'cancelled' })
  })
})

describe('Esc', () => {
  test('clears a text first and then returns to the list', () => {
    const cleared = press(armed([STORE]), ['end', 'abc', 'escape'])
    expect(cleared.drafts[0]).toMatchObject({ editing: true, editor: { text: '' } })
    expect(press(cleared, ['escape']).drafts[0]).toMatchObject({ editing: false })
  })

  test('declines when pressed twice with nothing answered', () => {
    const once = press(armed([STORE]), ['escape'])
    expect(once.hint).toBe('Esc again to decline to answer')
    expect(ending(press(once, ['escape']))).toEqual({ kind: 'declined' })
  })

  test('dismisses with what was answered and says how much that is', () => {
    const once = press(armed([STORE, CACHE, CHECKS]), ['enter', 'enter', 'escape'])
    expect(once.hint).toBe('Esc again to dismiss with 2 answered, 1 left unanswered')
    expect(ending(press(once, ['escape']))).toEqual({
      kind: 'cancelled',
      reason: 'dismissed by the user',
      answers: [
        { id: 'db', selected: ['Postgres'] },
        { id: 'cache', selected: ['Postgres'] },
      ],
    })
  })

  test('counts what was skipped by itself', () => {
    const once = press(armed([STORE, CACHE, CHECKS]), ['enter', 's', 'escape'])
    expect(once.hint).toBe('Esc again to dismiss with 1 answered, 1 skipped, 1 left unanswered')
    expect(ending(press(once, ['escape']))).toMatchObject({ answers: [{ id: 'db' }, { id: 'cache' }] })
  })

  test('declines a question that has no list as well, once its text is cleared', () => {
    const cleared = press(armed([NAME]), ['abc', 'escape'])
    expect(cleared).toMatchObject({ hint: undefined, drafts: [{ editing: true, editor: { text: '' } }] })
    const once = press(cleared, ['escape'])
    expect(once.hint).toBe('Esc again to decline to answer')
    expect(ending(press(once, ['x', 'escape', 'escape']))).toBeUndefined()
    expect(ending(press(once, ['escape']))).toEqual({ kind: 'declined' })
  })

  test('waits two seconds for the second one', () => {
    const once = press(armed([STORE]), ['escape'])
    const late = reduce(once, { type: 'key', key: { kind: 'named', name: 'escape' }, now: NOON + 2001 })
    expect(ending(late)).toBeUndefined()
    expect(reduce(once, { type: 'tick', now: NOON + 2001 }).hint).toBeUndefined()
  })

  test.each(['down', 'unbound', 'x'])('is taken back by another key, %s', key => {
    expect(ending(press(armed([STORE]), ['escape', key, 'escape']))).toBeUndefined()
  })
})

describe('leaving', () => {
  test.each([
    ['ctrl-c', { kind: 'cancelled', reason: 'dismissed by the user', answers: [] }],
    ['ctrl-d', { kind: 'cancelled', reason: 'end of input', answers: [] }],
    ['ctrl-x', { kind: 'interrupted', answers: [] }],
  ])('by %s works in the list and in the text', (key, expected) => {
    expect(ending(press(armed([STORE]), [key]))).toEqual(expected)
    expect(ending(press(armed([STORE]), ['end', 'abc', key]))).toEqual(expected)
  })

  test('keeps what was confirmed when the turn is stopped', () => {
    expect(ending(press(armed([STORE, CACHE]), ['enter', 'ctrl-x']))).toEqual({
      kind: 'interrupted',
      answers: [{ id: 'db', selected: ['Postgres'] }],
    })
  })

  test('is what the end of the input does', () => {
    expect(ending(reduce(armed([STORE]), { type: 'end' }))).toMatchObject({ reason: 'end of input' })
  })

  test('changes nothing any more once it is done', () => {
    const done = press(armed([STORE]), ['enter'])
    expect(press(done, ['down', 'ctrl-c'])).toBe(done)
  })
})

describe('writing back', () => {
  test('ends with the text', () => {
    expect(ending(press(armed([STORE]), ['ctrl-t', 'Why?', 'enter']))).toEqual({
      kind: 'clarified',
      text: 'Why?',
    })
  })

  test('sends nothing empty', () => {
    expect(ending(press(armed([STORE]), ['ctrl-t', 'enter']))).toBeUndefined()
  })

  test('returns to the question by Esc and keeps what was written', () => {
    const state = press(armed([STORE]), ['ctrl-t', 'Why', 'escape'])
    expect(state.view).toMatchObject({ name: 'question' })
    expect(ending(press(state, ['ctrl-t', '?', 'enter']))).toMatchObject({ text: 'Why?' })
  })
})

describe('a deadline', () => {
  test('is counted down until the person begins to answer', () => {
    const state = armed([STORE], NOON + 90_000)
    expect(screen(reduce(state, { type: 'tick', now: NOON + 1000 }))[0]).toBe('1:29 left')
    expect(screen(press(state, ['down'])).join('\n')).not.toContain('left')
  })
})

describe('keys right after something new came up', () => {
  const at = (state: PromptState, now: number, ...keys: string[]): PromptState =>
    keys.reduce((each, key) => reduce(each, { type: 'key', key: keyOf(key), now }), state)
  const opened = (...questions: Question[]): PromptState =>
    reduce(openPrompt(questions, { now: 0, pauseMs: 150 }), { type: 'arm' })
  const IGNORED = 'What was typed before this was shown is ignored'

  test('do not answer it, also those of an Enter that is held down', () => {
    const held = [600, 630, 660, 800].reduce((state, now) => at(state, now, 'enter'), opened(STORE, CACHE))
    expect(held).toMatchObject({ view: { name: 'question', index: 1 }, hint: IGNORED })
    expect(held.drafts[1]?.outcome).toBeUndefined()
    expect(at(held, 950, 'enter').view.name).toBe('review')
  })

  test.each([
    [['enter', 'enter', 'enter', 'enter']],
    [['enter', ' ', '2', 's']],
    [['enter', 'end', 'x', 'tab', 'escape', 'escape', 'ctrl-s', 'ctrl-x', 'ctrl-d']],
  ])('such as %j change nothing of the second of three questions', keys => {
    const state = at(opened(STORE, CHECKS, CACHE), 600, ...keys)
    expect(state).toMatchObject({ view: { name: 'question', index: 1 }, hint: IGNORED })
    expect(state.ending).toBeUndefined()
    expect(state.drafts.slice(1)).toEqual(opened(STORE, CHECKS, CACHE).drafts.slice(1))
  })

  test('do not write what is pasted', () => {
    const state = reduce(at(opened(STORE, NAME), 600, 'enter'), { type: 'paste', text: 'x', now: 610 })
    expect(state).toMatchObject({ hint: IGNORED, drafts: [{}, { editor: { text: '' } }] })
  })

  test('do not send the review, and move in it without a pause', () => {
    const reviewed = at(at(opened(STORE, CACHE), 600, 'enter'), 800, 'enter', 'enter')
    expect(reviewed).toMatchObject({ view: { name: 'review', focus: 2 }, hint: IGNORED })
    expect(reviewed.ending).toBeUndefined()
    expect(at(reviewed, 1000, 'up', 'down', 'enter').ending).toMatchObject({ kind: 'answered' })
  })

  test('do not skip a multi-select when it was only just said that nothing is ticked', () => {
    const told = at(opened(CHECKS), 600, 'enter', 'enter', 'enter')
    expect(told).toMatchObject({ hint: 'Nothing is ticked: Space ticks, Enter again skips' })
    expect(told.ending).toBeUndefined()
    expect(at(told, 800, 'enter').ending).toMatchObject({ kind: 'answered' })
  })

  test('dismiss all the same when they are Ctrl-C', () => {
    expect(at(opened(STORE, CACHE), 600, 'enter', 'ctrl-c').ending).toMatchObject({ kind: 'cancelled' })
  })

  test('count once the pause is over, measured from when it was on the screen', () => {
    const shown = reduce(at(opened(STORE, CACHE), 600, 'enter'), { type: 'shown', now: 900 })
    expect(at(shown, 1000, 'enter').view).toMatchObject({ index: 1 })
    expect(at(shown, 1050, 'enter').view.name).toBe('review')
  })
})
