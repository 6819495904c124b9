import { describe, expect, test } from 'vitest'
import { groupsOfStat, judgeTerminal, type TerminalToJudge } from '../src/judge.ts'
import { FakeInput, FakeOutput } from './fake-terminal.ts'

function judge(
  change: Partial<TerminalToJudge> & { inputTTY?: boolean; outputTTY?: boolean; columns?: number } = {},
): string {
  const { inputTTY = true, outputTTY = true, columns = 80, ...rest } = change
  const input = Object.assign(new FakeInput(), { isTTY: inputTTY })
  const output = Object.assign(new FakeOutput(columns), { isTTY: outputTTY })
  return judgeTerminal({ input, output, env: {}, foreground: () => true, ...rest }).mode
}

describe('judgeTerminal', () => {
  test('finds two terminals rich', () => {
    expect(judge()).toBe('rich')
  })

  test('finds nobody behind a pipe or a file', () => {
    expect(judge({ inputTTY: false })).toBe('none')
    expect(judge({ outputTTY: false })).toBe('none')
  })

  test.each(['1', 'true', 'yes'])('finds nobody where CI is %s', value => {
    expect(judge({ env: { CI: value } })).toBe('none')
  })

  test.each(['', '0', 'false'])('finds a person where CI is "%s"', value => {
    expect(judge({ env: { CI: value } })).toBe('rich')
  })

  test('finds nobody in the background', () => {
    expect(judge({ foreground: () => false })).toBe('none')
  })

  test('finds nobody at an input that has ended', () => {
    const input = new FakeInput()
    input.destroy()
    expect(judge({ input })).toBe('none')
  })

  test('is plain for a dumb terminal, a screen reader, a narrow one and on request', () => {
    expect(judge({ env: { TERM: 'dumb' } })).toBe('plain')
    expect(judge({ env: { ACCESSIBLE: '1' } })).toBe('plain')
    expect(judge({ columns: 19 })).toBe('plain')
    expect(judge({ plain: true })).toBe('plain')
  })

  test('takes an unknown width for a wide one', () => {
    expect(judge({ columns: 0 })).toBe('rich')
  })

  test('says why nobody can be asked and what to do', () => {
    const output = new FakeOutput()
    const input = Object.assign(new FakeInput(), { isTTY: false })
    expect(judgeTerminal({ input, output, env: {}, foreground: () => true })).toEqual({
      mode: 'none',
      why: 'standard input is not a terminal',
      advice: 'run it in a terminal, or answer without a person: --answers FILE or --policy NAME',
    })
  })

  test('reads the process groups behind a name with parentheses', () => {
    expect(groupsOfStat('7 (a) b (c)) S 1 42 40 34816 43 4194304 0')).toEqual([42, 43])
  })
})
