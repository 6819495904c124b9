import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, realpath, type FileHandle } from 'node:fs/promises'
import { hostname } from 'node:os'
import { AskLogError } from './error.ts'
import { lastPlaces, type Place } from './last-places.ts'
import { withinMs } from './within-ms.ts'

/** Where lines go. */
export interface LineSink {
  /** For people to read. */
  readonly name: string
  /** What several hosts that write here agree on before there is a line; absent where nobody else writes. */
  readonly shared?: string | undefined
  /** Adds text that ends a line, all of it after what was added before. */
  append(text: string): Promise<void>
  /** The places of the lines at its end, the last first. */
  places(): Promise<readonly Place[]>
  close(): void
}

// A named pipe that nobody reads would hold up whoever opens it, for ever.
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK
const READ = constants.O_RDONLY | constants.O_NONBLOCK
const OWNER_ALONE = 0o600
const LINE_END = 0x0a

/** How long a file may take to be opened, in milliseconds. */
const OPEN_MS = 5_000

/**
 * A file that is only ever added to, readable by its owner alone when it is made here. It is opened for each write, so that
 * it may be moved away. Rejects with `LOG_UNUSABLE` when it cannot be written and read, or does not open within 5 seconds.
 */
export async function openFileSink(file: string): Promise<LineSink> {
  let shared: string | undefined
  try {
    const checked = check(file).then(name => (shared = name))
    await withinMs(checked, OPEN_MS)
    // Throws what it was refused for; one that still waits is refused for that.
    if (shared === undefined) await Promise.race([checked, Promise.reject(new Error('it does not open'))])
  } catch (cause) {
    throw new AskLogError('LOG_UNUSABLE', { file, why: (cause as Error).message }, { cause })
  }
  return {
    name: file,
    shared,
    append: text => withFile(file, APPEND, handle => appendTo(handle, file, text)),
    places: () => readPlaces(file),
    close() {},
  }
}

/** A stream, such as standard error. It holds no place to go on from. */
export function streamSink(stream: NodeJS.WritableStream): LineSink {
  // An error comes after the call that made it, too, and one that nobody hears ends the process.
  stream.on('error', ignore)
  return {
    name: 'stream',
    append: text =>
      new Promise((resolve, reject) => {
        stream.write(text, error => (error instanceof Error ? reject(error) : resolve()))
      }),
    places: () => Promise.resolve([]),
    close: () => void stream.off('error', ignore),
  }
}

const ignore = (): void => {}

/** Opens it once for all that is done with it later. */
async function check(file: string): Promise<string> {
  const isFile = await withFile(file, APPEND, async handle => (await handle.stat()).isFile())
  if (isFile)
    await withFile(file, READ, () => Promise.resolve()).catch((cause: Error) => {
      throw new Error(`it is read back, to go on after its last line: ${cause.message}`, { cause })
    })
  return sharedName(file)
}

/** The same for all that begin this file on this machine, and no other's. */
async function sharedName(file: string): Promise<string> {
  const path = await realpath(file)
  return createHash('sha256').update(`${hostname()}\0${path}`).digest('hex').slice(0, 16)
}

async function appendTo(handle: FileHandle, file: string, text: string): Promise<void> {
  const torn = (await handle.stat()).isFile() && (await isTorn(file))
  await handle.writeFile(torn ? `\n${text}` : text)
}

// A host that was killed while it wrote may have left half a line.
async function isTorn(file: string): Promise<boolean> {
  return withFile(file, READ, async handle => {
    const { size } = await handle.stat()
    if (size === 0) return false
    const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: size - 1 })
    return buffer[0] !== LINE_END
  })
}

async function readPlaces(file: string): Promise<readonly Place[]> {
  return withFile(file, READ, async handle => {
    const stat = await handle.stat()
    return stat.isFile() ? lastPlaces(handle, stat.size) : []
  }).catch((error: NodeJS.ErrnoException) => {
    // It was moved away, and nothing has been written since.
    if (error.code === 'ENOENT') return []
    throw error
  })
}

async function withFile<T>(file: string, flags: number, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, flags, OWNER_ALONE)
  try {
    return await use(handle)
  } finally {
    await handle.close()
  }
}
