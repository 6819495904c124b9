import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { isRunning } from '@handraise/inbox'
import { z } from 'zod'
import { InboxServerError } from './server-error.ts'

const stateSchema = z.object({
  handraise: z.literal('inbox-server'),
  version: z.literal(1),
  url: z.string(),
  host: z.string(),
  port: z.int().min(1).max(65_535),
  token: z.string().min(1),
  /** The process that serves; absent when it ended in order. */
  pid: z.int().min(1).optional(),
})

export type ServerState = Omit<z.infer<typeof stateSchema>, 'handraise' | 'version'>

/** What a server wrote about itself; nothing when there is no such file. */
export async function readState(file: string): Promise<ServerState | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(file, (error as Error).message, error)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw unreadable(file, 'it is not JSON', error)
  }
  const parsed = stateSchema.safeParse(value)
  if (!parsed.success) throw unreadable(file, 'it is of something else', parsed.error)
  const { handraise: _, version: __, ...state } = parsed.data
  return state
}

/** Replaces the file at once: whoever reads it finds the old state or the new one, and nobody but its owner reads it. */
export async function writeState(file: string, state: ServerState): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const draft = `${file}.${randomUUID()}.tmp`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify({ handraise: 'inbox-server', version: 1, ...state })}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** True when the server that wrote the state runs still: its process lives and its port takes connections. */
export async function isServing({ pid, host, port }: ServerState): Promise<boolean> {
  return pid !== undefined && isRunning(pid) && (await accepts(host, port))
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host, port, timeout: 1_000 })
    const end = (taken: boolean): void => {
      socket.destroy()
      resolve(taken)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}

function unreadable(file: string, why: string, cause: unknown): InboxServerError {
  return new InboxServerError('STATE_UNREADABLE', { file, why }, { cause })
}
