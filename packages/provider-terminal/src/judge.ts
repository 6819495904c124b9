import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { TerminalInput, TerminalOutput } from './terminal.ts'
import { WORDING } from './wording.ts'

/** How a person can be asked on these streams: `rich` redraws in place, `plain` only adds lines, `none` not at all. */
export type TerminalVerdict =
  | { readonly mode: 'rich' | 'plain' }
  /** `why`, and what to do about it. */
  | { readonly mode: 'none'; readonly why: string; readonly advice: string }

export interface TerminalToJudge {
  readonly input: TerminalInput
  readonly output: TerminalOutput
  readonly env: NodeJS.ProcessEnv
  /** Plain where rich would do. Default false. */
  readonly plain?: boolean | undefined
  /** Whether the process may read from its terminal. Default: the system is asked. */
  readonly foreground?: (() => boolean) | undefined
}

const LEAST_RICH_COLUMNS = 20

/** Whether a person can be asked here and now, and how. Reads and writes nothing. */
export function judgeTerminal({
  input,
  output,
  env,
  plain,
  foreground = isForeground,
}: TerminalToJudge): TerminalVerdict {
  const { why, advice } = WORDING
  if (isSet(env['CI'])) return { mode: 'none', why: why.ci, advice: advice.ci }
  if (input.isTTY !== true) return { mode: 'none', why: why.noInput, advice: advice.terminal }
  if (output.isTTY !== true) return { mode: 'none', why: why.noOutput, advice: advice.terminal }
  if (input.readableEnded === true || input.destroyed === true)
    return { mode: 'none', why: why.ended, advice: advice.terminal }
  // To read or to change the terminal from the background would stop the process, with nobody told.
  if (!foreground()) return { mode: 'none', why: why.background, advice: advice.background }
  const columns = output.columns ?? 0
  const isPlain =
    plain === true ||
    env['TERM'] === 'dumb' ||
    isSet(env['ACCESSIBLE']) ||
    (columns > 0 && columns < LEAST_RICH_COLUMNS) ||
    input.setRawMode === undefined
  return { mode: isPlain ? 'plain' : 'rich' }
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value.trim().toLowerCase())
}

/** Whether this process belongs to the foreground group of its terminal; true where that cannot be told. */
export function isForeground(): boolean {
  if (process.platform === 'win32') return true
  try {
    const [group, terminalGroup] = process.platform === 'linux' ? readStat() : askPs()
    if (group === undefined || terminalGroup === undefined) return true
    return !(group > 0 && terminalGroup > 0) || group === terminalGroup
  } catch {
    return true
  }
}

function readStat(): number[] {
  return groupsOfStat(readFileSync('/proc/self/stat', 'utf8'))
}

/** The process group, and the foreground group of its terminal, from the text of `/proc/PID/stat`. */
export function groupsOfStat(stat: string): number[] {
  // The name of the program stands in parentheses and may hold anything, parentheses too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [Number(fields[2]), Number(fields[5])]
}

function askPs(): number[] {
  const said = execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 1000,
  })
  return said.trim().split(/\s+/u).map(Number)
}
