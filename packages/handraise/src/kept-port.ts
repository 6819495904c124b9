import { readFile, writeFile } from 'node:fs/promises'

/** The port that was kept in the file; nothing when there is no such file, or it holds none. */
export async function keptPort(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const port = Number(text)
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined
}

/** Keeps it, so that addresses that name it hold after a restart. Where that fails it is another one then. */
export async function keepPort(file: string, port: number): Promise<void> {
  await writeFile(file, `${port}\n`, { mode: 0o600 }).catch(() => {})
}
