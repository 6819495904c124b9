import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ToolResult } from '@handraise/tools'
import type { ApprovalSubject } from '@handraise/user-approvals'
import { build } from 'tsup'
import { onTestFinished } from 'vitest'
import { openTerminal, type Terminal } from '../../provider-terminal/tests/pseudo-terminal.ts'

export interface GuardedCall {
  readonly callId: string
  readonly session: string
  readonly subject: ApprovalSubject
  readonly reason?: string
}

/** What a host is to do. */
export interface HostPlan {
  /** The database of its inbox. */
  readonly file: string
  readonly calls: readonly GuardedCall[]
  /** Where the tool leaves a line each time it runs. */
  readonly effects: string
  /** Where the host leaves each result as a line. */
  readonly report: string
  /** Whether it asks in its own terminal. */
  readonly prompts: boolean
  readonly plain: boolean
}

/** The host as one file that node can run, beside the package, whose native database client it loads. */
export async function bundleHost(): Promise<{ readonly host: string; remove(): void }> {
  const cache = fileURLToPath(new URL('../.cache/', import.meta.url))
  mkdirSync(cache, { recursive: true })
  const outDir = mkdtempSync(join(cache, 'approval-host-'))
  await build({
    config: false,
    silent: true,
    entry: { host: fileURLToPath(new URL('approval-host-fixture.ts', import.meta.url)) },
    outDir,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    external: ['better-sqlite3'],
    noExternal: [/^(?!better-sqlite3$)/u],
    splitting: false,
    outExtension: () => ({ js: '.mjs' }),
    esbuildOptions(options) {
      options.conditions = ['@handraise/source']
    },
  })
  return { host: join(outDir, 'host.mjs'), remove: () => rmSync(outDir, { recursive: true, force: true }) }
}

/** One directory with an inbox in it, and the hosts that run on it. All of them are gone when the test is. */
export function hostsIn(directory: string, host: string) {
  const plan = (calls: readonly GuardedCall[], more: Partial<HostPlan> = {}): string =>
    JSON.stringify({
      file: join(directory, 'inbox.db'),
      effects: join(directory, 'effects'),
      report: join(directory, 'report'),
      prompts: false,
      plain: false,
      ...more,
      calls,
    } satisfies HostPlan)
  const linesOf = (name: string): string[] => {
    try {
      return readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1)
    } catch {
      return []
    }
  }
  return {
    file: join(directory, 'inbox.db'),
    /** The ids of the calls that were carried out, as often as they were. */
    effects: () => linesOf('effects'),
    results: () => linesOf('report').map(line => JSON.parse(line) as ToolResult),
    /** A host that asks in a terminal of its own. */
    inTerminal(
      calls: readonly GuardedCall[],
      { columns, rows, plain = false }: { columns?: number; rows?: number; plain?: boolean } = {},
    ): Terminal {
      const size = { columns: columns ?? 80, rows: rows ?? 24 }
      const terminal = openTerminal(process.execPath, [host, plan(calls, { prompts: true, plain })], size)
      onTestFinished(() => terminal.close())
      return terminal
    },
    /** A host that asks through the inbox alone. */
    start(calls: readonly GuardedCall[]): { child: ChildProcess; ended: Promise<number | null> } {
      const child = spawn(process.execPath, [host, plan(calls)], { stdio: ['ignore', 'ignore', 'inherit'] })
      onTestFinished(() => void child.kill('SIGKILL'))
      return { child, ended: new Promise(resolve => child.once('exit', resolve)) }
    },
  }
}
