import { changesShell } from './known-programs.ts'
import { matchRule } from './match-rule.ts'
import type { ResolvedSubject } from './resolve-subject.ts'
import { ruleSchema, type ApprovalRule, type ShellRule } from './rule-schema.ts'

/** How much wider than the subject itself a rule is to be. */
export interface RuleBreadth {
  /** Of a command: this many words, and then any words that are no options. */
  readonly argvPrefix?: number | undefined
  /** Of a file: this directory and everything below it. A real, absolute path, such as the workspace's. */
  readonly within?: string | undefined
}

/**
 * The narrowest rule that covers a requirement: exactly its words, its path, its host, port and protocol, its input.
 * With a breadth, the wider rule that was asked for. Undefined when no such rule may be: the requirement is not
 * understood or not resolved, the breadth is none for its kind, or the wider rule would let a program run what it is
 * given. A wider rule is never replaced by a narrower one. What is returned passes `ruleSchema` and matches the requirement.
 */
export function ruleFor(
  toolName: string,
  resolved: ResolvedSubject,
  breadth: RuleBreadth = {},
): ApprovalRule | undefined {
  const match = matchFor(resolved, breadth)
  if (match === undefined) return undefined
  const rule = ruleSchema.safeParse({ version: 1, toolName, match }).data
  return rule !== undefined && matchRule(rule, toolName, resolved).matches ? rule : undefined
}

function matchFor(
  resolved: ResolvedSubject,
  { argvPrefix, within }: RuleBreadth,
): ApprovalRule['match'] | undefined {
  if (argvPrefix !== undefined && resolved.kind !== 'shell') return undefined
  if (within !== undefined && resolved.kind !== 'fileAccess') return undefined
  switch (resolved.kind) {
    case 'shell':
      return shellRuleFor(resolved, argvPrefix)
    case 'fileAccess': {
      const { path, subject } = resolved
      if (path === undefined) return undefined
      const access = [subject.access]
      return within === undefined
        ? { kind: 'fileAccess', access, path, within: false }
        : { kind: 'fileAccess', access, path: within.replace(/(?<=.)\/$/u, ''), within: true }
    }
    case 'network': {
      const { host, protocol, subject } = resolved
      if (host === undefined) return undefined
      return {
        kind: 'network',
        host,
        ...(subject.port === undefined ? {} : { port: subject.port }),
        ...(protocol === undefined ? {} : { protocol }),
      }
    }
    case 'tool':
      return { kind: 'tool', toolName: resolved.subject.toolName, inputDigest: resolved.inputDigest }
  }
}

function shellRuleFor(
  { stages, cwd, env, subject }: Extract<ResolvedSubject, { kind: 'shell' }>,
  argvPrefix: number | undefined,
): ShellRule | undefined {
  const [stage] = stages
  if (stage === undefined) return undefined
  const { argv, separator } = stage
  // Without a shell there is no such program; a shell that is given the same words would run what they say.
  if (subject.argv !== undefined && changesShell(argv[0] ?? '')) return undefined
  if (
    argvPrefix !== undefined &&
    !(Number.isInteger(argvPrefix) && argvPrefix > 0 && argvPrefix <= argv.length)
  )
    return undefined
  return {
    kind: 'shell',
    argv: argvPrefix === undefined ? argv : argv.slice(0, argvPrefix),
    rest: argvPrefix === undefined ? 'none' : 'any',
    ...(separator === '|' ? { piped: true as const } : {}),
    ...(cwd === undefined ? {} : { cwd }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
  }
}
