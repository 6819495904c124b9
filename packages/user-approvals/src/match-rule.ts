import { describeIssues } from '@handraise/user-questions/types'
import { exactText } from './exact-text.ts'
import { isOperand, onlyReadsInput } from './known-programs.ts'
import type {
  ResolvedFileAccess,
  ResolvedNetwork,
  ResolvedShell,
  ResolvedSubject,
  ResolvedTool,
} from './resolve-subject.ts'
import {
  ruleSchema,
  type ApprovalRule,
  type FileRule,
  type NetworkRule,
  type ShellRule,
  type ToolRule,
} from './rule-schema.ts'

export interface RuleVerdict {
  readonly matches: boolean
  /** What decided it, for a person who asks why they were asked, or why not. */
  readonly why: string
}

/**
 * Whether a rule covers a requirement. A rule never answers for a subject it does not show in full: whatever the subject
 * has and the rule does not hold, such as an environment, a directory, a port or a target, keeps it from matching, and so
 * does whatever of the subject was not understood or not resolved. Texts are compared character by character. Never
 * throws: a rule that breaks `ruleSchema`, however it came here, matches nothing.
 */
export function matchRule(rule: ApprovalRule, toolName: string, resolved: ResolvedSubject): RuleVerdict {
  const why = whyNot(rule, toolName, resolved)
  return why === undefined
    ? { matches: true, why: 'all of it is what the rule says' }
    : { matches: false, why }
}

/** The first reason why the rule does not cover it. */
function whyNot(given: ApprovalRule, toolName: string, resolved: ResolvedSubject): string | undefined {
  const rule = ruleSchema.safeParse(given).data
  if (rule === undefined) return 'the rule is not a valid one'
  if (rule.toolName !== toolName) return differ('the tool', toolName, rule.toolName)
  const { match } = rule
  if (resolved.issues.length > 0) return `no rule covers it: ${exactText(describeIssues(resolved.issues))}`
  if (match.kind === 'shell' && resolved.kind === 'shell') return whyNotShell(match, resolved)
  if (match.kind === 'fileAccess' && resolved.kind === 'fileAccess') return whyNotFile(match, resolved)
  if (match.kind === 'network' && resolved.kind === 'network') return whyNotNetwork(match, resolved)
  if (match.kind === 'tool' && resolved.kind === 'tool') return whyNotTool(match, resolved)
  return differ('the kind', resolved.kind, match.kind)
}

function whyNotShell(rule: ShellRule, { stages, cwd, env }: ResolvedShell): string | undefined {
  const [stage, ...others] = stages
  if (stage === undefined || others.length > 0)
    return 'it has several stages, each of which needs a rule of its own'
  if (!stage.argvComplete) return 'no rule covers it: what a shell would make of it is not fully understood'
  const { argv } = stage
  const [program = ''] = argv
  const piped = stage.separator === '|'
  if (piped && !onlyReadsInput(program))
    return `no rule covers it: ${quote(program)} may run what is piped into it`
  if (program.includes('/') && !program.startsWith('/') && cwd === undefined)
    return `no rule covers it: ${quote(program)} depends on a directory that is not known`
  if (piped !== (rule.piped === true))
    return piped ? 'it reads a pipe, and the rule does not' : 'it reads no pipe, and the rule does'
  return (
    whyNotWords(rule, argv) ??
    (cwd === rule.cwd ? undefined : differ('the directory', cwd, rule.cwd)) ??
    whyNotEnvironment(env, rule.env ?? {})
  )
}

function whyNotWords(rule: ShellRule, argv: readonly string[]): string | undefined {
  const different = rule.argv.findIndex((word, index) => word !== argv[index])
  if (different !== -1) return differ(`argv[${different}]`, argv[different], rule.argv[different])
  const rest = argv.slice(rule.argv.length)
  if (rule.rest === 'none')
    return rest[0] === undefined ? undefined : `${quote(rest[0])} follows, and the rule says nothing does`
  const option = rest.find(word => !isOperand(word))
  return option === undefined
    ? undefined
    : `${quote(option)} may be an option, and the rule says none follows`
}

function whyNotEnvironment(
  env: Readonly<Record<string, string>>,
  held: Readonly<Record<string, string>>,
): string | undefined {
  const given = new Map(Object.entries(env))
  const wanted = new Map(Object.entries(held))
  for (const name of new Set([...given.keys(), ...wanted.keys()])) {
    if (given.get(name) !== wanted.get(name))
      return differ(`the variable ${exactText(name)}`, given.get(name), wanted.get(name))
  }
  return undefined
}

function whyNotFile(rule: FileRule, { subject, path }: ResolvedFileAccess): string | undefined {
  if (path === undefined) return 'no rule covers it: its path is not resolved'
  if (subject.target !== undefined) return 'no rule covers it: it has a target besides its path'
  if (!rule.access.includes(subject.access))
    return differ('the access', subject.access, rule.access.join(', '))
  if (path === rule.path || (rule.within && path.startsWith(`${rule.path}/`))) return undefined
  return differ('the path', path, `${rule.path}${rule.within ? ' and below' : ''}`)
}

function whyNotNetwork(rule: NetworkRule, { subject, host, protocol }: ResolvedNetwork): string | undefined {
  if (host === undefined) return 'no rule covers it: its host is not resolved'
  if (host !== rule.host) return differ('the host', host, rule.host)
  if (subject.port !== rule.port) return differ('the port', subject.port?.toString(), rule.port?.toString())
  return protocol === rule.protocol ? undefined : differ('the protocol', protocol, rule.protocol)
}

function whyNotTool(rule: ToolRule, { subject, inputDigest }: ResolvedTool): string | undefined {
  if (subject.toolName !== rule.toolName) return differ('the tool called', subject.toolName, rule.toolName)
  return inputDigest === rule.inputDigest ? undefined : 'its input is not the one the rule was made for'
}

function differ(what: string, given: string | undefined, held: string | undefined): string {
  return `${what} is ${given === undefined ? 'absent' : quote(given)}, the rule says ${held === undefined ? 'absent' : quote(held)}`
}

function quote(text: string): string {
  return `"${exactText(text)}"`
}
