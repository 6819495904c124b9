import { readFile } from 'node:fs/promises'
import { CommandError } from './command-error.ts'

const LARGEST_BYTES = 10 * 1024 * 1024

/** The JSON of a file, or of standard input for `-`. Throws `BAD_INPUT`, naming the file. At most 10 MiB. */
export async function readJson(file: string): Promise<unknown> {
  return parseJson(file === '-' ? await readStandardInput() : await readText(file), nameOf(file))
}

/** The JSON in a text; `name` says in the error where it came from. */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    const why = text.trim() === '' ? 'is empty' : `is not JSON: ${(error as Error).message}`
    throw new CommandError('BAD_INPUT', `${name} ${why}`, { cause: error })
  }
}

export function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file
}

async function readText(file: string): Promise<string> {
  try {
    return checkSize(await readFile(file), file).toString('utf8')
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError('BAD_INPUT', `${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > LARGEST_BYTES) throw tooLarge('-')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function checkSize(content: Buffer, file: string): Buffer {
  if (content.length > LARGEST_BYTES) throw tooLarge(file)
  return content
}

function tooLarge(file: string): CommandError {
  return new CommandError('BAD_INPUT', `${nameOf(file)} is larger than ${LARGEST_BYTES} bytes`)
}
