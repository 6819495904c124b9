import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Notice } from '@handraise/notices'
import type { Question } from '@handraise/user-questions'
import { onTestFinished, vi } from 'vitest'

export const DB: Question = {
  id: 'db',
  question: 'Which database?',
  header: 'Database',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}

/** A directory until the test is over. */
export async function temporary(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'handraise-notices-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

/** A command that keeps what it is told in a file, and the file. */
export async function recorder() {
  const file = join(await temporary(), 'told.jsonl')
  return {
    // One write each, so that several at once do not mix.
    command: { command: `read -r line; printf '%s\\n' "$line" >> '${file}'` },
    lines: () => linesOf(file),
    told: async (): Promise<Notice[]> =>
      (await linesOf(file)).map(line => JSON.parse(line) as unknown as Notice),
  }
}

export async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').slice(0, -1)
}

/** Waits until it holds, for 10 seconds at most. */
export function until(holds: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(holds, { timeout: 10_000, interval: 20 })
}

/** Long enough for what must not happen to have happened. */
export const aWhile = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 300))
