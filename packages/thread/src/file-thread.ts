import { createHash } from 'node:crypto'
import { watch, type FSWatcher } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { ThreadError } from './error.ts'
import { threadItemSchema, type ThreadItem } from './items.ts'
import type { MemoryDraft } from './memory-thread.ts'
import type { ThreadPage, ThreadStore } from './thread-store.ts'

export interface FileThreadOptions {
  /** Made where it is missing, for its owner alone; its directory is not. */
  readonly file: string
  /** The author of what is posted through this store. Default `agent`. */
  readonly self?: string | undefined
  /** How often to look for more where the system does not tell, in milliseconds. Default 1,000. */
  readonly pollMs?: number | undefined
}

const NEWLINE = 0x0a
const NAME_BYTES = 4_096
const CHUNK_BYTES = 64 * 1024
/** A line that is longer is no item. */
const MOST_BYTES = 16 * 1024 * 1024
const LIMIT = 1_000

const storedSchema = threadItemSchema.omit({ position: true })

/**
 * A thread in a file of JSON lines, for several processes of one machine. Each item is written at once, between two line
 * breaks, and is on the disk when its post resolves: what was torn by a crash damages nothing but itself and is skipped, as
 * is whatever else is no item. Positions are offsets in bytes; a cursor is one as well, and names the file by its first line.
 */
export class FileThread implements ThreadStore {
  readonly self: string
  private readonly file: string
  private readonly pollMs: number

  constructor({ file, self = 'agent', pollMs = 1_000 }: FileThreadOptions) {
    this.file = file
    this.self = self
    this.pollMs = pollMs
  }

  async post({ content, metadata }: MemoryDraft): Promise<ThreadItem> {
    const item = {
      id: crypto.randomUUID(),
      author: this.self,
      content,
      ...(metadata === undefined ? {} : { metadata }),
      postedAt: Date.now(),
    }
    const line = Buffer.from(`\n${JSON.stringify(item)}\n`)
    const handle = await open(this.file, 'a+', 0o600)
    try {
      const { size } = await handle.stat()
      // In one piece, so that another process cannot write in between.
      const { bytesWritten } = await handle.write(line)
      // Without its last line break it is there all the same.
      if (bytesWritten < line.length - 1) throw new Error('the item was not written in full')
      await handle.sync()
      return await this.find(handle, size, item.id)
    } finally {
      await handle.close()
    }
  }

  /** Posts a text. */
  say(text: string, metadata?: unknown): Promise<ThreadItem> {
    return this.post({ content: [{ type: 'text', text }], metadata })
  }

  /** Rejects with `BAD_CURSOR` for one that is not of this file: it was cut, or another one was put in its place. */
  async since(cursor: string | undefined, limit = LIMIT): Promise<ThreadPage> {
    const handle = await this.openToRead()
    if (handle === undefined) {
      if (readCursor(cursor).from !== 0) throw new ThreadError('BAD_CURSOR', { cursor: String(cursor) })
      return { items: [], cursor: '0', more: false }
    }
    try {
      const { size } = await handle.stat()
      const name = await nameOf(handle)
      const { from, name: of } = readCursor(cursor)
      const isOffset = Number.isSafeInteger(from) && from >= 0 && from <= size
      // Before the first line there is nothing to tell one file from another.
      const isOfThis = of === name || from === 0
      if (!isOffset || !isOfThis) throw new ThreadError('BAD_CURSOR', { cursor: String(cursor) })
      const page = await readPage(handle, from, limit)
      // Nothing was read yet of a file whose first line has not ended.
      return { ...page, cursor: name === undefined ? '0' : `${page.cursor}@${name}` }
    } finally {
      await handle.close()
    }
  }

  follow(wake: () => void): () => void {
    let last = -1
    const look = async (): Promise<void> => {
      const { size } = await stat(this.file).catch(() => ({ size: 0 }))
      if (size !== last && last >= 0) wake()
      last = size
    }
    void look()
    let watcher = this.watchFile(wake)
    const timer = setInterval(() => {
      watcher ??= this.watchFile(wake)
      void look()
    }, this.pollMs)
    // Whoever waits for a thread alone does not keep the process.
    timer.unref()
    return () => {
      clearInterval(timer)
      watcher?.close()
    }
  }

  // Undefined while there is no file, and on systems that cannot: then the slow look is all there is.
  private watchFile(wake: () => void): FSWatcher | undefined {
    try {
      const watcher = watch(this.file, { persistent: false }, () => wake())
      watcher.on('error', () => watcher.close())
      return watcher
    } catch {
      return undefined
    }
  }

  private async openToRead(): Promise<FileHandle | undefined> {
    try {
      return await open(this.file, 'r')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  // Others may have written between the look at the size and the write.
  private async find(handle: FileHandle, from: number, id: string): Promise<ThreadItem> {
    for (let at = from, more = true; more;) {
      const page = await readPage(handle, at, LIMIT)
      const item = page.items.find(each => each.id === id)
      if (item !== undefined) return item
      at = Number(page.cursor)
      ;({ more } = page)
    }
    throw new Error('the item is not in the file')
  }
}

function readCursor(cursor = '0'): { from: number; name: string | undefined } {
  const [from, name] = cursor.split('@')
  return { from: from === '' ? Number.NaN : Number(from), name }
}

/** What tells a file from another one: its first line, which names an item. Undefined before there is one. */
async function nameOf(handle: FileHandle): Promise<string | undefined> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(NAME_BYTES), 0, NAME_BYTES, 0)
  const start = buffer.subarray(0, bytesRead).findIndex(byte => byte !== NEWLINE)
  if (start < 0) return undefined
  const end = buffer.indexOf(NEWLINE, start)
  const isWhole = (end >= 0 && end < bytesRead) || bytesRead === NAME_BYTES
  if (!isWhole) return undefined
  const line = buffer.subarray(start, end >= 0 && end < bytesRead ? end : bytesRead)
  return createHash('sha256').update(line).digest('base64url').slice(0, 16)
}

/** The lines from an offset on; the last one counts without an end where it is an item. */
async function readPage(handle: FileHandle, from: number, limit: number): Promise<ThreadPage> {
  const items: ThreadItem[] = []
  let start = from
  let rest = Buffer.alloc(0)
  for (let at = from; ;) {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, at)
    at += bytesRead
    rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)])
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const item = toItem(rest.toString('utf8', 0, end), start)
      rest = rest.subarray(end + 1)
      start += end + 1
      if (item !== undefined) items.push(item)
      if (items.length >= limit) return { items, cursor: String(start), more: true }
    }
    if (bytesRead === 0) {
      // No part of an item is one: what comes after it can only be its line break.
      const last = toItem(rest.toString('utf8'), start)
      if (last === undefined) return { items, cursor: String(start), more: false }
      return { items: [...items, last], cursor: String(start + rest.length), more: false }
    }
    if (rest.length > MOST_BYTES) {
      start += rest.length
      rest = Buffer.alloc(0)
    }
  }
}

function toItem(line: string, position: number): ThreadItem | undefined {
  if (line.trim() === '') return undefined
  try {
    const stored = storedSchema.safeParse(JSON.parse(line)).data
    return stored === undefined ? undefined : { ...stored, position }
  } catch {
    return undefined
  }
}
