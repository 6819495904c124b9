import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

/** How long it may take until a transcript tells of a call: the CLI writes it a little later. */
const TOLD_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 50

/** A part of what the model said, as the transcript has it: each call of a turn is a line of its own. */
const lineSchema = z.object({
  type: z.literal('assistant'),
  message: z.object({
    id: z.string(),
    stop_reason: z.string().nullish(),
    content: z.array(z.looseObject({ type: z.string(), id: z.string().optional() })),
  }),
})

/**
 * Whether the transcript of a session tells that a call was deferred: it is resumed now, perhaps in another process. False
 * where there is no transcript that could be read.
 */
export async function wasDeferred(path: string | undefined, toolUseID: string): Promise<boolean> {
  const id = JSON.stringify(toolUseID)
  for await (const line of linesOf(path)) {
    if (line.includes('"hook_deferred_tool"') && line.includes(id)) return true
  }
  return false
}

/**
 * Whether a call is the only one of its turn, as far as the transcript tells it within 10 seconds; true where it does not. The
 * hook is called while the model may be at the next call still. False once the signal aborts.
 */
export async function isOnlyCall(
  path: string | undefined,
  toolUseID: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (path === undefined) return true
  const end = performance.now() + TOLD_WITHIN_MS
  while (performance.now() < end) {
    const calls = await callsOfTurn(path, toolUseID)
    if (calls !== undefined) return calls === 1
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return false
  }
  return true
}

/** How many calls the turn of a call has. `undefined` where that is not told yet. */
async function callsOfTurn(path: string, toolUseID: string): Promise<number | undefined> {
  const turns = new Map<string, { readonly calls: Set<string>; isOver: boolean }>()
  for await (const line of linesOf(path)) {
    const { data } = lineSchema.safeParse(line.includes('"tool_use"') ? parseJson(line) : undefined)
    if (data === undefined) continue
    const { id, stop_reason: stopReason, content } = data.message
    const turn = turns.get(id) ?? { calls: new Set(), isOver: false }
    turns.set(id, turn)
    turn.isOver ||= typeof stopReason === 'string'
    for (const part of content) if (part.type === 'tool_use' && part.id !== undefined) turn.calls.add(part.id)
  }
  const turn = [...turns.values()].find(({ calls }) => calls.has(toolUseID))
  return turn === undefined || (turn.calls.size === 1 && !turn.isOver) ? undefined : turn.calls.size
}

async function* linesOf(path: string | undefined): AsyncGenerator<string> {
  if (path === undefined) return
  const stream = createReadStream(path, 'utf8')
  try {
    yield* createInterface({ input: stream, crlfDelay: Infinity })
  } catch {
    // Nothing is told by what is not there, or cannot be read.
  } finally {
    stream.destroy()
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}
