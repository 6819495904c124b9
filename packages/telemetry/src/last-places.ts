import type { FileHandle } from 'node:fs/promises'
import { z } from 'zod'

const placeSchema = z.object({ source: z.string(), cursor: z.string() })

/** Where a line stands: in the log of which inbox, and where in that. */
export type Place = z.infer<typeof placeSchema>

/** How much of the end of a file is read, in bytes: what is before that was written long ago. */
const LAST_BYTES = 1024 * 1024

/** The places of the whole lines at the end of a file, the last first. */
export async function lastPlaces(file: FileHandle, size: number): Promise<readonly Place[]> {
  const start = Math.max(0, size - LAST_BYTES)
  const bytes = Buffer.alloc(size - start)
  const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
  const lines = bytes.toString('utf8', 0, bytesRead).split('\n')
  return lines.toReversed().flatMap(line => placeOf(line) ?? [])
}

function placeOf(line: string): Place | undefined {
  // Most lines of others are told apart without reading them.
  if (!line.includes('"cursor"')) return undefined
  try {
    return placeSchema.safeParse(JSON.parse(line)).data
  } catch {
    // One that was cut while it was written is no JSON.
    return undefined
  }
}
