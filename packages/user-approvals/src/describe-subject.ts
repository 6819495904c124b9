import { exactLines, exactText, quoteWord, quoteWords } from './exact-text.ts'
import { readShell, type ShellSeparator, type ShellStage } from './shell-words.ts'
import type {
  ApprovalSubject,
  FileAccessSubject,
  NetworkSubject,
  ShellSubject,
  ToolSubject,
} from './subject.ts'

/** How long a title may be, in characters. */
const TITLE_LENGTH = 200

/** What stands before a line of somebody else's text, so that no such line can be taken for one of ours. */
const QUOTED = '| '

/** What parts a name from what is said of it. Exact text never holds this dash, so that no command can pretend to. */
const ASIDE = ' — '

/**
 * The subject in full, as lines for the person who decides. Nothing is cut, whatever its length, and what shows nothing,
 * is obeyed or looks like something else is written out (`exactText`): two subjects that differ in anything are described
 * differently. Words are quoted where they would otherwise run together. A surface must show every line to its end, wrapped
 * or scrolled, with blanks kept, before it takes a decision.
 */
export function describeSubject(subject: ApprovalSubject): string[] {
  switch (subject.kind) {
    case 'shell':
      return describeShell(subject)
    case 'fileAccess':
      return describeFileAccess(subject)
    case 'network':
      return describeNetwork(subject)
    case 'tool':
      return describeTool(subject)
  }
}

/**
 * The whole subject in one line, the words by which a script names it: the command or its words, the access and the path,
 * the host with its port and protocol, the tool with its input, each with whatever else the subject has. Of two
 * subjects that differ the names differ. Nothing is cut.
 */
export function nameOf(subject: ApprovalSubject): string {
  switch (subject.kind) {
    case 'shell':
      return nameOfShell(subject)
    case 'fileAccess': {
      const { access, path, target, workspaceRoot } = subject
      return [
        `${access} ${quoteWord(path)}`,
        ...(target === undefined ? [] : [`target ${quoteWord(target)}`]),
        ...(workspaceRoot === undefined ? [] : [`in the workspace ${quoteWord(workspaceRoot)}`]),
      ].join(ASIDE)
    }
    case 'network': {
      const { host, port, protocol } = subject
      // A host may hold colons; in quotes it cannot be taken for one with a port.
      const where = `${quoteWord(host)}${port === undefined ? '' : `:${port}`}`
      return protocol === undefined ? where : `${where}${ASIDE}over ${quoteWord(protocol)}`
    }
    case 'tool':
      return `${quoteWord(subject.toolName)} ${exactText(JSON.stringify(subject.input))}`
  }
}

/**
 * A title for a list: the name of the subject, and behind 200 characters how many more there are. No decision may be taken
 * on a title alone.
 */
export function titleOf(subject: ApprovalSubject): string {
  const characters = Array.from(nameOf(subject))
  if (characters.length <= TITLE_LENGTH) return characters.join('')
  return `${characters.slice(0, TITLE_LENGTH).join('')}… (${characters.length - TITLE_LENGTH} more characters)`
}

function describeShell({ command, argv, cwd, env }: ShellSubject): string[] {
  const lines =
    argv === undefined
      ? ['Run in a shell:', ...quote(exactLines(command))]
      : ['Run without a shell, these words:', ...quote([quoteWords(argv)]), ...describeGiven(command, argv)]
  return [
    ...lines,
    ...(cwd === undefined ? [] : [`In the directory: ${quoteWord(cwd)}`]),
    ...describeEnvironment(env),
    ...(argv === undefined ? describeStages(readShell(command)) : []),
  ]
}

// What counts is the words; what the caller calls them is shown where it says anything else.
function describeGiven(command: string, argv: readonly string[]): string[] {
  return command === quoteWords(argv) ? [] : ['Which the caller writes as:', ...quote(exactLines(command))]
}

function describeEnvironment(env: ShellSubject['env'] = {}): string[] {
  const assignments = assignmentsOf(env)
  return assignments.length === 0 ? [] : ['With this set in its environment:', ...quote(assignments)]
}

const RELATION: { readonly [S in ShellSeparator]: string } = {
  '|': 'reads what the one before writes',
  '&&': 'if the one before succeeded',
  '||': 'if the one before failed',
  ';': 'after the one before',
  '\n': 'after the one before',
}

function describeStages(stages: readonly ShellStage[]): string[] {
  const [only] = stages
  if (stages.length === 1 && only?.argvComplete === true) return []
  return stages.flatMap(({ argv, argvComplete, text, separator }, index) => {
    const relation = separator === undefined ? '' : `, ${RELATION[separator]}`
    const label = `Stage ${index + 1} of ${stages.length}${relation}`
    return argvComplete
      ? [`${label}:`, ...quote([quoteWords(argv)])]
      : [`${label}; what a shell makes of it is not fully understood here:`, ...quote(exactLines(text))]
  })
}

function describeFileAccess({ path, access, workspaceRoot, target }: FileAccessSubject): string[] {
  return [
    `Access: ${access}`,
    `Path: ${quoteWord(path)}`,
    ...(target === undefined ? [] : [`Target: ${quoteWord(target)}`]),
    ...(workspaceRoot === undefined ? [] : [`Workspace: ${quoteWord(workspaceRoot)}`]),
  ]
}

function describeNetwork({ host, port, protocol }: NetworkSubject): string[] {
  return [
    `Host: ${quoteWord(host)}`,
    ...(port === undefined ? [] : [`Port: ${port}`]),
    ...(protocol === undefined ? [] : [`Protocol: ${quoteWord(protocol)}`]),
  ]
}

function describeTool({ toolName, input }: ToolSubject): string[] {
  return [`Tool: ${quoteWord(toolName)}`, 'Input:', ...quote(exactLines(JSON.stringify(input, null, 2)))]
}

function nameOfShell({ command, argv, cwd, env = {} }: ShellSubject): string {
  return [
    argv === undefined ? exactText(command) : quoteWords(argv),
    ...(argv === undefined ? [] : ['without a shell']),
    ...(argv === undefined || command === quoteWords(argv) ? [] : [`written as ${quoteWord(command)}`]),
    ...(cwd === undefined ? [] : [`in ${quoteWord(cwd)}`]),
    ...(Object.keys(env).length === 0 ? [] : [`with ${assignmentsOf(env).join(' ')}`]),
  ].join(ASIDE)
}

function assignmentsOf(env: NonNullable<ShellSubject['env']>): string[] {
  return Object.entries(env)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${quoteWord(name)}=${quoteWord(value)}`)
}

function quote(lines: readonly string[]): string[] {
  return lines.map(line => `${QUOTED}${line}`)
}
