import { isFrame, readFrame, type TranscriptLine } from './transcript.ts'

/** What a host mints by chance, and how it is called in a transcript, with a number behind. */
const MINTED: Readonly<Record<string, string>> = {
  sessionId: 'session',
  turnId: 'turn',
  itemId: 'item',
  userInputId: 'input',
  approvalId: 'approval',
}

/** What is said of a host that is not the same on another machine, or in the next version. */
const OF_THE_HOST: Readonly<Record<string, unknown>> = {
  serverInfo: { name: 'handraise', version: '0.0.0' },
  userAgent: 'handraise/0.0.0 (linux; x64)',
  platformFamily: 'unix',
  platformOs: 'linux',
  schema: { version: 1, fingerprint: `sha256:${'0'.repeat(64)}` },
}

/**
 * The lines as they are kept: ids that were minted by chance are called by what they are, in the order in which they appear,
 * wherever they stand. An id that the client has chosen itself stays.
 */
export function readableLines(lines: readonly TranscriptLine[]): TranscriptLine[] {
  const names = namesOf(lines)
  return lines.map(({ dir, raw }) => {
    const readable = names.reduce((text, [id, name]) => text.replaceAll(id, name), raw)
    const frame = readFrame(readable)
    if (dir === 'client' || !isFrame(frame?.result) || !('serverInfo' in frame.result))
      return { dir, raw: readable }
    return { dir, raw: JSON.stringify({ ...frame, result: { ...frame.result, ...OF_THE_HOST } }) }
  })
}

/** Minted ids with their names, the longest first: one may be part of another. */
function namesOf(lines: readonly TranscriptLine[]): Array<readonly [id: string, name: string]> {
  const names = new Map<string, string>()
  const chosen = new Set<string>()
  const counts = new Map<string, number>()
  for (const { dir, raw } of lines) {
    for (const [member, value] of textsIn(readFrame(raw))) {
      const kind = MINTED[member]
      if (dir === 'client' && !names.has(value)) chosen.add(value)
      if (dir === 'client' || kind === undefined || names.has(value) || chosen.has(value)) continue
      const count = (counts.get(kind) ?? 0) + 1
      counts.set(kind, count)
      names.set(value, `${kind}-${count}`)
    }
  }
  return [...names].toSorted(([one], [other]) => other.length - one.length)
}

function* textsIn(value: unknown, member = ''): Generator<readonly [member: string, text: string]> {
  if (typeof value === 'string') yield [member, value]
  else if (Array.isArray(value)) for (const each of value) yield* textsIn(each, member)
  else if (isFrame(value)) for (const [name, each] of Object.entries(value)) yield* textsIn(each, name)
}
