import { quoteWord, quoteWords } from './exact-text.ts'
import type { ApprovalRule, FileRule, NetworkRule, ShellRule, ToolRule } from './rule-schema.ts'

/**
 * The rule word for word, as a person is shown it before they allow: on one line, whole however long, everything in it
 * visible. Two rules that differ have different previews. Surfaces must not cut it.
 */
export function previewOf({ toolName, match }: ApprovalRule): string {
  return `${quoteWord(toolName)}: ${wordsOf(match)}`
}

function wordsOf(match: ApprovalRule['match']): string {
  switch (match.kind) {
    case 'shell':
      return ofShell(match)
    case 'fileAccess':
      return ofFile(match)
    case 'network':
      return ofNetwork(match)
    case 'tool':
      return ofTool(match)
  }
}

// No bare word holds a colon or a bracket, so that what is said here cannot be mistaken for a word of the command.
function ofShell({ argv, rest, piped, cwd, env = {} }: ShellRule): string {
  const words = quoteWords(argv)
  const assignments = Object.entries(env)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${quoteWord(name)}=${quoteWord(value)}`)
  return [
    rest === 'none' ? `run exactly: ${words}` : `run ${words} and then any words that are no options`,
    ...(piped === true ? ['(with whatever is piped into it)'] : []),
    ...(cwd === undefined ? [] : [`(in ${quoteWord(cwd)})`]),
    ...(assignments.length === 0 ? [] : [`(with ${assignments.join(' ')})`]),
  ].join(' ')
}

function ofFile({ access, path, within }: FileRule): string {
  const what = access.join(', ')
  return within ? `${what} ${quoteWord(path)} and anything below it` : `${what} exactly: ${quoteWord(path)}`
}

function ofNetwork({ host, port, protocol }: NetworkRule): string {
  return [
    `connect to exactly: ${host}`,
    port === undefined ? 'no port named' : `port ${port}`,
    protocol === undefined ? 'no protocol named' : `protocol ${protocol}`,
  ].join(', ')
}

function ofTool({ toolName, inputDigest }: ToolRule): string {
  return `call ${quoteWord(toolName)} with exactly this input (SHA-256 ${inputDigest})`
}
