import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

/** How long it may take until a transcript tells of a call: the CLI writes it a little later. */
const TOLD_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 50
/** How much of the end of a transcript is read: the turn that is asked about is the last. */
const MOST_BYTES = 8 * 1024 * 1024

/** A part of what the model said, as the transcript has it: each call of a turn is a line of its own. */
const lineSchema = z.object({
  type: z.literal('assistant'),
  message: z.object({
    id: z.string(),
    stop_reason: z.string().nullish(),
    content: z.array(z.looseObject({ type: z.string(), id: z.string().optional() })),
  }),
})

const deferredSchema = z.object({
  attachment: z.object({ type: z.literal('hook_deferred_tool'), toolUseID: z.string() }),
})

/** The end of a file: of how many bytes the file was, and its lines. The first line may be cut. */
interface FileEnd {
  readonly size: number
  readonly lines: readonly string[]
}

/**
 * Whether the transcript of a session tells that a call was deferred: it is resumed now, perhaps in another process. False
 * where there is no transcript that could be read.
 */
export async function wasDeferred(path: string | undefined, toolUseID: string): Promise<boolean> {
  const read = await readEnd(path)
  if (typeof read !== 'object') return false
  return read.lines.some(line => {
    if (!line.includes('"hook_deferred_tool"')) return false
    return deferredSchema.safeParse(parseJson(line)).data?.attachment.toolUseID === toolUseID
  })
}

/**
 * Whether a call is the only one of its turn, as the transcript tells it within 10 seconds; false where it does not, since
 * what else the turn has might be lost. The hook is called while the model may be at the next call still. False once the signal
 * aborts.
 */
export async function isOnlyCall(
  path: string | undefined,
  toolUseID: string,
  signal: AbortSignal,
): Promise<boolean> {
  const end = performance.now() + TOLD_WITHIN_MS
  let size: number | undefined
  while (performance.now() < end) {
    const read = await readEnd(path, size)
    if (read === 'unreadable') return false
    if (typeof read === 'object') {
      size = read.size
      const calls = callsOfTurn(read.lines, toolUseID)
      if (calls !== undefined) return calls === 1
    }
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return false
  }
  return false
}

/** How many calls the last turn with a call has. `undefined` where that is not told yet. */
function callsOfTurn(lines: readonly string[], toolUseID: string): number | undefined {
  const turns = new Map<string, { readonly calls: Set<string>; isOver: boolean }>()
  for (const line of lines) {
    const { data } = lineSchema.safeParse(line.includes('"tool_use"') ? parseJson(line) : undefined)
    if (data === undefined) continue
    const { id, stop_reason: stopReason, content } = data.message
    const turn = turns.get(id) ?? { calls: new Set(), isOver: false }
    turns.set(id, turn)
    turn.isOver ||= typeof stopReason === 'string'
    for (const part of content) if (part.type === 'tool_use' && part.id !== undefined) turn.calls.add(part.id)
  }
  const turn = [...turns.values()].findLast(({ calls }) => calls.has(toolUseID))
  return turn === undefined || (turn.calls.size === 1 && !turn.isOver) ? undefined : turn.calls.size
}

/**
 * The end of a file that is not of the known size. `unreadable` is what will never tell anything: a directory, a pipe, what may
 * not be read. `untold` is what may still: a file that is not there yet, or has not changed.
 */
async function readEnd(
  path: string | undefined,
  knownSize?: number,
): Promise<FileEnd | 'unreadable' | 'untold'> {
  if (path === undefined) return 'unreadable'
  try {
    // A pipe would be waited for otherwise, without an end.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stats = await file.stat()
      if (!stats.isFile()) return 'unreadable'
      const { size } = stats
      if (size === knownSize) return 'untold'
      const start = Math.max(0, size - MOST_BYTES)
      const buffer = Buffer.alloc(size - start)
      const { bytesRead } = await file.read(buffer, 0, buffer.length, start)
      return { size, lines: buffer.toString('utf8', 0, bytesRead).split('\n') }
    } finally {
      await file.close()
    }
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    return isMissing ? 'untold' : 'unreadable'
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}
