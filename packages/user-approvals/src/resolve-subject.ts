import { stat } from 'node:fs/promises'
import type { Issue } from '@handraise/user-questions/types'
import { canonicalHost } from './canonical-host.ts'
import { digestOfInput } from './input-digest.ts'
import { realPathOf } from './real-path.ts'
import { readShell, stageOfWords, type ShellStage } from './shell-words.ts'
import {
  subjectSchema,
  type ApprovalSubject,
  type FileAccessSubject,
  type NetworkSubject,
  type ShellSubject,
  type ToolSubject,
} from './subject.ts'

interface Resolved<Subject> {
  /** As it was given: a copy that nobody changes. */
  readonly subject: Subject
  /** What could not be resolved. Unless it is empty no rule covers the subject; a person can still decide. */
  readonly issues: readonly Issue[]
}

export interface ResolvedShell extends Resolved<ShellSubject> {
  readonly kind: 'shell'
  /** At least one. */
  readonly stages: readonly ShellStage[]
  /** The real path of the directory it is run in. Absent: it is not known. */
  readonly cwd?: string
  /** What is set besides the agent's own environment; empty for nothing. */
  readonly env: Readonly<Record<string, string>>
}

export interface ResolvedFileAccess extends Resolved<FileAccessSubject> {
  readonly kind: 'fileAccess'
  /** The real path: what is opened must be this one, for the path as given may lead elsewhere by then. */
  readonly path?: string
}

export interface ResolvedNetwork extends Resolved<NetworkSubject> {
  readonly kind: 'network'
  /** What is connected to must be this one. */
  readonly host?: string
  /** In lower case. */
  readonly protocol?: string
}

export interface ResolvedTool extends Resolved<ToolSubject> {
  readonly kind: 'tool'
  readonly inputDigest: string
}

/** A subject and what it comes to. Plain data: no member is `undefined`. */
export type ResolvedSubject = ResolvedShell | ResolvedFileAccess | ResolvedNetwork | ResolvedTool

export interface ResolveOptions {
  /** The directory the tool works in, absolute: where relative paths start, and where a command without a `cwd` is run. */
  readonly cwd?: string | undefined
}

/**
 * Finds out what a subject comes to now: the stages of a command, the real path of a file or a directory, the canonical
 * name of a host, the digest of an input. What it cannot find out is an issue in the result. Rejects with a `ZodError` for
 * what is no subject at all.
 */
export async function resolveSubject(
  given: ApprovalSubject,
  options: ResolveOptions = {},
): Promise<ResolvedSubject> {
  // Copied before anything is awaited: what is approved is what was asked about, whoever keeps a reference to it.
  const subject = JSON.parse(JSON.stringify(subjectSchema.parse(given))) as ApprovalSubject
  switch (subject.kind) {
    case 'shell':
      return resolveShell(subject, options)
    case 'fileAccess':
      return resolveFileAccess(subject, options)
    case 'network':
      return resolveNetwork(subject)
    case 'tool':
      return {
        kind: 'tool',
        subject,
        inputDigest: digestOfInput(subject.toolName, subject.input),
        issues: [],
      }
  }
}

async function resolveShell(subject: ShellSubject, options: ResolveOptions): Promise<ResolvedShell> {
  const { command, argv, env = {} } = subject
  const stages = argv === undefined ? readShell(command) : [stageOfWords(argv)]
  const issues: Issue[] = []
  // Its shells read a command in other ways, and its batch files read their arguments once more.
  if (process.platform === 'win32') issues.push({ path: 'command', message: 'is not read on Windows' })
  const cwd = subject.cwd ?? options.cwd
  const shell = { kind: 'shell', subject, stages, env } as const
  if (cwd === undefined) return { ...shell, issues }
  const real = await realPathOf(cwd, { base: options.cwd })
  if ('fault' in real) return { ...shell, issues: [...issues, { path: 'cwd', message: real.fault }] }
  if (!(await isDirectory(real.path)))
    return { ...shell, issues: [...issues, { path: 'cwd', message: 'is not a directory' }] }
  return { ...shell, cwd: real.path, issues }
}

async function resolveFileAccess(
  subject: FileAccessSubject,
  { cwd: base }: ResolveOptions,
): Promise<ResolvedFileAccess> {
  // Deleting a link leaves alone what it leads to.
  const real = await realPathOf(subject.path, { base, refuseLastLink: subject.access === 'delete' })
  return 'fault' in real
    ? { kind: 'fileAccess', subject, issues: [{ path: 'path', message: real.fault }] }
    : { kind: 'fileAccess', subject, path: real.path, issues: [] }
}

function resolveNetwork(subject: NetworkSubject): ResolvedNetwork {
  const canonical = canonicalHost(subject.host)
  const { protocol } = subject
  const rest = protocol === undefined ? {} : { protocol: protocol.toLowerCase() }
  return 'fault' in canonical
    ? { kind: 'network', subject, ...rest, issues: [{ path: 'host', message: canonical.fault }] }
    : { kind: 'network', subject, ...rest, host: canonical.host, issues: [] }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}
