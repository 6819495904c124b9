import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InboxService, MemoryStore, type InboxStore, type MemoryMedium } from '@handraise/inbox'
import type { LogLine } from '@handraise/telemetry'
import { UserQuestionService, type Question, type UserQuestionProvider } from '@handraise/user-questions'
import { Context } from 'cordis'
import { onTestFinished, vi } from 'vitest'

export const DB: Question = {
  id: 'db',
  question: 'Which database?',
  header: 'Database',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}

export const answering: UserQuestionProvider = {
  name: 'answering',
  ask: async ({ questions }) => ({
    answers: questions.map(({ id, options }) => ({ id, selected: [options?.[0]?.label ?? ''] })),
  }),
}

/** A host with the seam, and with an inbox where there is something to keep it in. */
export async function host(kept?: MemoryMedium | InboxStore) {
  const ctx = new Context()
  const reported: unknown[] = []
  ctx.logger.exporter({ export: message => void reported.push(...message.args) })
  await ctx.plugin(UserQuestionService)
  const store = kept === undefined ? undefined : 'open' in kept ? kept : new MemoryStore(kept)
  if (store !== undefined) await ctx.plugin(InboxService, { store })
  onTestFinished(() => ctx.fiber.dispose())
  return { ctx, reported }
}

/** A file that is not there yet, in a directory that is gone with the test. */
export async function temporaryFile(name = 'asks.jsonl'): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'handraise-telemetry-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return join(directory, name)
}

export async function linesOf(file: string): Promise<LogLine[]> {
  const text = await readFile(file, 'utf8')
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as LogLine)
}

/** What the lines tell of each request, in order. */
export const told = (lines: readonly LogLine[]): string[] =>
  lines.map(line => ('id' in line ? `${line.event} ${line.key ?? line.id}` : line.event))

/** Waits until it holds, for 10 seconds at most. */
export function until(holds: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(holds, { timeout: 10_000, interval: 10 })
}
