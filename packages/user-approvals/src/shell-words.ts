import { isPlain, quoteWords } from './exact-text.ts'

/** What parts one stage from the next. */
export type ShellSeparator = '|' | '&&' | '||' | ';' | '\n'

/** One command of a shell command line. */
export interface ShellStage {
  /** The words of the stage; empty unless `argvComplete`. */
  readonly argv: readonly string[]
  /** True when a shell would run exactly these words. No rule ever matches a stage of which it is false. */
  readonly argvComplete: boolean
  /** The stage as it stands in the command, without blanks around it. Of words without a shell: the words, quoted. */
  readonly text: string
  /** What stands between the stage before and this one; absent on the first. */
  readonly separator?: ShellSeparator | undefined
}

interface Place {
  readonly at: number
  readonly separator?: ShellSeparator
}

/** A stage that was understood, and where the next one starts. */
interface Understood {
  readonly argv: readonly string[]
  readonly text: string
  readonly next?: Place
}

const BLANK = /[ \t]/u
const UNQUOTED = /[A-Za-z0-9_@%+=:,./-]/u
const ESCAPED = /[ -/:-@[-`{-~]/u
/** Separators after which there may be nothing. */
const ENDS_COMMAND = /^[\n;]$/u

/** Words that a shell takes for its own grammar where a command would start. */
const RESERVED = new Set(
  (
    'if then elif else fi for in do done while until case esac select function time coproc repeat foreach end begin ' +
    'switch nocorrect noglob and or not -'
  ).split(' '),
)

/**
 * Reads a command as a POSIX shell would, as far as it is made of plain words, single quotes, double quotes that expand
 * nothing and backslashes before punctuation, parted by `|`, `&&`, `||`, `;` and line breaks.
 *
 * It is narrow by design. It never needs to be right about what it does not understand: from the stage on that holds
 * anything else (expansions, substitutions, groups, redirections, `&`, patterns, `~`, `!`, `#`, `^`, assignments,
 * reserved words, continued lines, control characters, letters outside of quotes that are not ASCII, characters that
 * show nothing or look like others, unfinished quotes), the rest of the command is one stage with `argvComplete: false`.
 * Where a shell would part that rest is not guessed at. What shells other than POSIX ones read differently, such as a
 * backslash or `!` within single quotes, is not understood either. A widening of this reader must come with a proof that
 * every shell agrees; a command that is not understood costs a person one more question.
 *
 * Never throws, and returns at least one stage. A blank command is one that is not understood.
 */
export function readShell(command: string): ShellStage[] {
  const stages: ShellStage[] = []
  let place: Place | undefined = { at: skipBlankLines(command, 0) }
  while (place !== undefined) {
    const { at, separator }: Place = place
    const parted = separator === undefined ? {} : { separator }
    const read = readStage(command, at)
    if (read === undefined) {
      stages.push({
        argv: [],
        argvComplete: false,
        text: command.slice(at).replace(/^[ \t\n]+/u, ''),
        ...parted,
      })
      return stages
    }
    stages.push({ argv: read.argv, argvComplete: true, text: read.text, ...parted })
    place = read.next
  }
  return stages
}

/** The one stage of words that are run without a shell. They are complete unless one of them cannot be shown as it is. */
export function stageOfWords(argv: readonly string[]): ShellStage {
  const argvComplete = argv[0] !== undefined && argv[0] !== '' && argv.every(isPlain)
  return { argv: argvComplete ? [...argv] : [], argvComplete, text: quoteWords(argv) }
}

function readStage(command: string, start: number): Understood | undefined {
  const argv: string[] = []
  let first: number | undefined
  let last = start
  let at = start
  for (;;) {
    while (BLANK.test(command[at] ?? '')) at += 1
    const separator = separatorAt(command, at)
    if (separator !== undefined || at >= command.length) {
      if (!isCommand(argv)) return undefined
      return { argv, text: command.slice(first, last), ...nextPlace(command, at, separator) }
    }
    const word = readWord(command, at)
    if (word === undefined) return undefined
    argv.push(word.value)
    first ??= at
    last = at = word.end
  }
}

function isCommand(argv: readonly string[]): boolean {
  const [program] = argv
  if (program === undefined || program === '' || RESERVED.has(program)) return false
  // An assignment; a program of such a name is asked about each time.
  return !program.includes('=')
}

function separatorAt(command: string, at: number): ShellSeparator | undefined {
  const one = command[at]
  const two = command.slice(at, at + 2)
  if (two === '&&' || two === '||') return two
  // It pipes the errors of the stage before it as well, which belongs to that stage.
  if (two === '|&') return undefined
  return one === '|' || one === ';' || one === '\n' ? one : undefined
}

/** A stage follows every separator, but for a `;` or a line break at the end and for blank lines. */
function nextPlace(command: string, at: number, separator: ShellSeparator | undefined): { next?: Place } {
  if (separator === undefined) return {}
  const after = at + separator.length
  if (!ENDS_COMMAND.test(separator)) return { next: { at: after, separator } }
  const next = skipBlankLines(command, after)
  return next >= command.length ? {} : { next: { at: next, separator } }
}

function readWord(command: string, start: number): { value: string; end: number } | undefined {
  let value = ''
  let at = start
  for (;;) {
    const character = command[at]
    if (character === undefined || BLANK.test(character) || separatorAt(command, at) !== undefined) break
    const part = readPart(command, at)
    if (part === undefined) return undefined
    value += part.value
    at = part.end
  }
  // In zsh a word `=ls` is the path of a program.
  if (command[start] === '=' || !isPlain(value)) return undefined
  return { value, end: at }
}

function readPart(command: string, at: number): { value: string; end: number } | undefined {
  const character = command[at] ?? ''
  if (character === "'") {
    const end = command.indexOf("'", at + 1)
    if (end === -1) return undefined
    const value = command.slice(at + 1, end)
    return /[\\!]/u.test(value) ? undefined : { value, end: end + 1 }
  }
  if (character === '"') return readDoubleQuotes(command, at + 1)
  if (character === '\\') {
    const value = command[at + 1] ?? ''
    return ESCAPED.test(value) ? { value, end: at + 2 } : undefined
  }
  return UNQUOTED.test(character) ? { value: character, end: at + 1 } : undefined
}

function readDoubleQuotes(command: string, start: number): { value: string; end: number } | undefined {
  let value = ''
  for (let at = start; at < command.length; at += 1) {
    const character = command[at] ?? ''
    if (character === '"') return { value, end: at + 1 }
    if (/[$`!]/u.test(character)) return undefined
    if (character === '\\') {
      at += 1
      const escaped = command[at] ?? ''
      if (!/["\\]/u.test(escaped)) return undefined
      value += escaped
    } else {
      value += character
    }
  }
  return undefined
}

function skipBlankLines(command: string, start: number): number {
  let at = start
  while (/[ \t\n]/u.test(command[at] ?? '')) at += 1
  return at
}
