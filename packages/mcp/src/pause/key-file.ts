import { randomBytes, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { link, mkdir, open, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { PauseError } from './pause-error.ts'

export const KEY_BYTES = 32
const FORM = /^handraise-mcp-key 1 ([\w-]{43,})\n?$/u

/**
 * The key in a file. One that is missing is made: 32 random bytes, readable by its owner alone, whole from the moment it is
 * there, whichever process is first. Removing the file makes a new key at the next start, under which nothing opens that was
 * sealed before.
 *
 * Rejects with `PauseError`: `KEY_EXPOSED` when its group or others may read or write it (not looked at on Windows),
 * `KEY_UNREADABLE` for one that holds no key, is no regular file, belongs to another user, or cannot be read or made.
 */
export async function readKeyFile(file: string): Promise<Uint8Array> {
  return orUnreadable(resolve(file), async path => (await read(path)) ?? (await make(path)))
}

/** The key in a file, or nothing where there is no such file. Rejects as `readKeyFile` does. */
export async function findKeyFile(file: string): Promise<Uint8Array | undefined> {
  return orUnreadable(resolve(file), read)
}

async function orUnreadable<T>(path: string, use: (path: string) => Promise<T>): Promise<T> {
  try {
    return await use(path)
  } catch (error) {
    if (PauseError.isInstance(error)) throw error
    throw new PauseError('KEY_UNREADABLE', { file: path, why: (error as Error).message }, { cause: error })
  }
}

async function read(file: string): Promise<Uint8Array | undefined> {
  // A pipe is not waited for.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)
  const handle = await open(file, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (handle === undefined) return undefined
  try {
    const stat = await handle.stat()
    const { mode, uid } = stat
    if (!stat.isFile()) throw new PauseError('KEY_UNREADABLE', { file, why: 'it is no regular file' })
    if (process.platform !== 'win32' && uid !== process.geteuid?.())
      throw new PauseError('KEY_UNREADABLE', { file, why: `it belongs to another user (${uid})` })
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new PauseError('KEY_EXPOSED', { file, mode })
    const [, encoded] = FORM.exec(await handle.readFile('utf8')) ?? []
    if (encoded === undefined) throw new PauseError('KEY_UNREADABLE', { file, why: 'it holds no key' })
    return Buffer.from(encoded, 'base64url')
  } finally {
    await handle.close()
  }
}

async function make(file: string): Promise<Uint8Array> {
  await mkdir(dirname(file), { recursive: true })
  const draft = `${file}.${randomUUID()}.tmp`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(`handraise-mcp-key 1 ${randomBytes(KEY_BYTES).toString('base64url')}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    // Unlike a rename this takes no key away that another process made meanwhile.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  const made = await read(file)
  if (made === undefined) throw new Error('it was removed as soon as it was made')
  return made
}
