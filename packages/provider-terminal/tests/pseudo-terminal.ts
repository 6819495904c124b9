import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pty from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { build } from 'tsup'
import { bytesOf } from './harness.ts'

/** A fixture as one file of JavaScript, which node can run by itself. */
export async function bundle(
  fixture: string,
): Promise<{ readonly file: string; readonly folder: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'handraise-terminal-'))
  await build({
    config: false,
    silent: true,
    entry: { fixture: fileURLToPath(new URL(fixture, import.meta.url)) },
    outDir: folder,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    noExternal: [/.*/u],
    splitting: false,
    outExtension: () => ({ js: '.mjs' }),
    esbuildOptions(options) {
      options.conditions = ['@handraise/source']
    },
  })
  return {
    file: join(folder, 'fixture.mjs'),
    folder,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

export interface Terminal {
  press(...keys: string[]): void
  resize(columns: number, rows: number): void
  signal(name: string): void
  /** The lines on the screen, without empty ones at the end. */
  lines(): string[]
  /** The same with what was scrolled off above. */
  history(): string[]
  cursorHidden(): boolean
  /** How often it rang. */
  bells(): number
  /** Resolves with the screen once `holds` is true of it; rejects with the screen when it never is. */
  until(holds: (lines: string[]) => boolean, what: string): Promise<string[]>
  /** Resolves once the text is on the screen. */
  untilShown(text: string): Promise<string[]>
  /** The window is closed, and the process left. */
  vanish(): void
  close(): void
}

const DEADLINE_MS = 10_000

/** Runs a command in a pseudo-terminal and reads its screen as a person would. */
export function openTerminal(
  command: string,
  args: readonly string[],
  { columns = 80, rows = 24, env = {} }: { columns?: number; rows?: number; env?: NodeJS.ProcessEnv } = {},
): Terminal {
  const screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 })
  const changed = new Set<() => void>()
  let hidden = false
  let bells = 0
  screen.onBell(() => (bells += 1))
  const { CI: _, NO_COLOR: __, ACCESSIBLE: ___, ...inherited } = process.env
  const child = pty.spawn(command, [...args], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    env: { ...inherited, ...env },
  })
  child.onData(data => {
    for (const [, state] of data.matchAll(/\u001b\[\?25([lh])/gu)) hidden = state === 'l'
    screen.write(data, () => changed.forEach(check => check()))
  })
  const read = (from: number): string[] => {
    const { active } = screen.buffer
    const lines = Array.from(
      { length: active.length - from },
      (_line, index) => active.getLine(from + index)?.translateToString(true) ?? '',
    )
    while (lines.at(-1) === '') lines.pop()
    return lines
  }
  const lines = (): string[] => read(screen.buffer.active.baseY)
  const until: Terminal['until'] = (holds, what) =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (!holds(lines())) return
        settle()
        resolve(lines())
      }
      const timer = setTimeout(() => {
        settle()
        reject(new Error(`${what} never came; the screen is:\n${lines().join('\n')}`))
      }, DEADLINE_MS)
      const settle = (): void => {
        clearTimeout(timer)
        changed.delete(check)
      }
      changed.add(check)
      check()
    })
  return {
    press(...keys) {
      for (const key of keys) child.write(bytesOf(key))
    },
    resize(newColumns, newRows) {
      screen.resize(newColumns, newRows)
      child.resize(newColumns, newRows)
    },
    signal: name => child.kill(name),
    lines,
    history: () => read(0),
    cursorHidden: () => hidden,
    bells: () => bells,
    until,
    untilShown: text => until(shown => shown.some(line => line.includes(text)), JSON.stringify(text)),
    vanish() {
      changed.clear()
      // Not `destroy`, which sends a signal: the system does so by itself where it should.
      ;(child as unknown as { _socket: Socket })._socket.destroy()
    },
    close() {
      child.kill('SIGKILL')
      screen.dispose()
    },
  }
}
