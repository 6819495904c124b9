import { changesShell } from './known-programs.ts'
import type { ResolvedShell, ResolvedSubject } from './resolve-subject.ts'

/** One thing that must be allowed before a subject may be acted on. */
export interface Requirement {
  /** Its place among the requirements of the subject, from 0. */
  readonly sourceIndex: number
  /** A subject of its own: one stage of a command, with the same directory and environment; or the subject as it is. */
  readonly subject: ResolvedSubject
}

/**
 * What must be allowed, in order: every stage of a command, or the one subject. All of it, or nothing may be done.
 *
 * A stage behind one that changes the shell itself (`cd`, `export`, `alias`, `printf -v` and their kin) is not what its
 * words say any more: it has an issue, and no rule covers it.
 */
export function requirementsOf(resolved: ResolvedSubject): Requirement[] {
  if (resolved.kind !== 'shell' || resolved.stages.length === 1)
    return [{ sourceIndex: 0, subject: resolved }]
  return resolved.stages.map((_, sourceIndex) => ({ sourceIndex, subject: ofStage(resolved, sourceIndex) }))
}

function ofStage(resolved: ResolvedShell, index: number): ResolvedShell {
  const { stages, subject, issues } = resolved
  const before = stages
    .slice(0, index)
    .findIndex(({ argv: [program] }) => program !== undefined && changesShell(program))
  const stage = stages[index]
  if (stage === undefined) throw new RangeError(`there is no stage ${index}`)
  const changed = `may not be what it says, since stage ${before + 1} changes the shell`
  return {
    ...resolved,
    // A stage may be empty, where a separator has nothing behind it; the command it is part of never is.
    subject: { ...subject, command: stage.text === '' ? (stage.separator ?? subject.command) : stage.text },
    stages: [stage],
    issues: before === -1 ? issues : [...issues, { path: `stages[${index}]`, message: changed }],
  }
}
