import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { command } from './run-command.ts'

export interface Served {
  readonly child: ChildProcess
  readonly url: string
  readonly token: string
  readonly page: string
  /** The address of its WebSocket. */
  readonly wire: string
  /** The address for clients of MCP. */
  readonly mcp: string
  readonly ended: Promise<number | null>
  /** What it has written to standard error so far. */
  stderr(): string
}

/** Starts `handraise serve --json` and waits until it listens. It is killed when the test is over. */
export async function serve(...args: string[]): Promise<Served> {
  return serveIn({}, ...args)
}

export async function serveIn(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Served> {
  const child = spawn(process.execPath, [command, 'serve', '--json', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', code => reject(new Error(`serve ended with ${code}: ${stderr}`)))
  })
  const told = JSON.parse(line) as Record<'url' | 'token' | 'page' | 'wire' | 'mcp', string>
  return { child, ...told, ended, stderr: () => stderr }
}
