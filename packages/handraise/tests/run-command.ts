import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The built command, as users run it. */
export const command = fileURLToPath(new URL('../dist/cli.js', import.meta.url))

export interface Ran {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  /** From start to end, in milliseconds. */
  readonly tookMs: number
}

/** Runs the command without any terminal, in a session of its own. */
export function run(args: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    // A session of its own has no controlling terminal, wherever the tests themselves run.
    const child = spawn(process.execPath, [command, ...args], {
      detached: true,
      env: { ...process.env, CI: '', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.on('error', reject)
    child.on('close', exitCode => resolve({ exitCode, stdout, stderr, tookMs: performance.now() - started }))
    child.stdin.on('error', () => {}).end(input)
  })
}
