import { createReadStream } from 'node:fs'
import { CommandError } from './command-error.ts'

const LARGEST_BYTES = 10 * 1024 * 1024

/** The JSON of a file, or of standard input for `-`. Throws `BAD_INPUT`, naming the file. At most 10 MiB. */
export async function readJson(file: string): Promise<unknown> {
  return parseJson(await readAll(file === '-' ? process.stdin : createReadStream(file), file), nameOf(file))
}

/** The JSON in a text; `name` says in the error where it came from. */
export function parseJson(text: string, name: string): unknown {
  try {
    // Some editors put a byte order mark first.
    return JSON.parse(text.replace(/^\ufeff/u, '')) as unknown
  } catch (error) {
    const why = text.trim() === '' ? 'is empty' : `is not JSON: ${(error as Error).message}`
    throw new CommandError('BAD_INPUT', `${name} ${why}`, { cause: error })
  }
}

export function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file
}

// Read in parts, so that a file without an end, or one that is far too large, is refused early.
async function readAll(parts: AsyncIterable<Buffer>, file: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of parts) {
      bytes += chunk.length
      if (bytes > LARGEST_BYTES) {
        throw new CommandError('BAD_INPUT', `${nameOf(file)} is larger than ${LARGEST_BYTES} bytes`)
      }
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError('BAD_INPUT', `${nameOf(file)} cannot be read: ${(error as Error).message}`, {
      cause: error,
    })
  }
  return Buffer.concat(chunks).toString('utf8')
}
