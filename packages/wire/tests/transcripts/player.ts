import { checkServerFrame } from '../../src/protocol/index.ts'
import { unlike, type Deviation } from './deviations.ts'
import { LearnedIds } from './learned-ids.ts'
import { Line } from './line.ts'
import { differences } from './match.ts'
import { ruleOf } from './members.ts'
import { CueSheet, type Scenario, type Scene } from './scenario.ts'
import { isFrame, readFrame, type Frame, type Transcript } from './transcript.ts'

/**
 * Plays a transcript against the host of a scenario: sends the client's frames, and holds each frame of the host against the
 * next one of the transcript (`members.ts` has the rules). What the client learned from the host goes back as the host's own.
 * Rejects at the first frame that differs, at one too many, and at a deviation that is none.
 */
export async function play(
  transcript: Transcript,
  scenario: Scenario,
  deviations: readonly Deviation[] = [],
): Promise<void> {
  const scene = await scenario.set()
  const player = new Player(scene, deviations)
  for (const [index, { dir, raw }] of transcript.frames.entries()) {
    try {
      if (dir === 'client') await player.say(raw)
      else await player.hear(raw)
    } catch (error) {
      throw new Error(`${transcript.name}, line ${index + 1}: ${messageOf(error)}\n  ${dir}: ${raw}`, {
        cause: error,
      })
    }
  }
  await player.end()
}

class Player {
  private readonly scene: Scene
  private readonly line: Line
  private readonly cues: CueSheet
  private readonly deviations: readonly Deviation[]
  private readonly unmet: Set<Deviation>
  private readonly ids = new LearnedIds()
  // Of the host's requests; those of the client's own are sent as they are.
  private readonly requestIds = new LearnedIds()
  private readonly methods = new Map<unknown, string>()

  constructor(scene: Scene, deviations: readonly Deviation[]) {
    this.scene = scene
    this.line = new Line(scene.hosted.ctx, scene.line)
    this.cues = new CueSheet(scene)
    this.deviations = deviations
    this.unmet = new Set(deviations)
    for (const [transcript, real] of Object.entries(scene.known ?? {})) this.ids.learn(transcript, real)
  }

  async say(raw: string): Promise<void> {
    const frame = readFrame(raw)
    if (frame === undefined) {
      this.line.send(raw)
      return
    }
    const { id, method } = frame
    const real = this.toReal(frame) as Frame
    if (typeof method === 'string') this.methods.set(id, method)
    const sent = typeof method === 'string' ? real : { ...real, ...this.receiptId(id) }
    this.line.send(JSON.stringify(sent))
    await this.cues.passed(sent, 'client')
  }

  async hear(raw: string): Promise<void> {
    const text = await this.line.next()
    if (text === undefined) throw new Error('the host has ended the line')
    const real = readFrame(text)
    const faults = real === undefined ? ['is no frame'] : this.faultsOf(readFrame(raw) ?? {}, real)
    if (faults.length > 0) throw new Error(`${faults.join('; ')}\n  host:   ${text}`)
    await this.cues.passed(real ?? {}, 'server')
  }

  /** Sees to it that the host has nothing more to say, and that all has come about that was to. */
  async end(): Promise<void> {
    if (this.scene.ends === true) {
      const more = await this.line.next()
      if (more !== undefined) throw new Error(`the host was to end the line, and said ${more}`)
    } else {
      await this.line.sendLast(BARRIER)
      const text = (await this.line.next()) ?? ''
      if (readFrame(text)?.id !== BARRIER_ID) throw new Error(`the host had more to say: ${text}`)
    }
    if (this.cues.left > 0) throw new Error(`${this.cues.left} cues never came`)
    const [unmet] = this.unmet
    if (unmet !== undefined) throw new Error(`the host does not deviate at ${unmet.in} ${unmet.at}`)
  }

  private faultsOf(transcript: Frame, real: Frame): string[] {
    const shape = checkServerFrame(real, id => this.methods.get(id))
    const about = typeof real.method === 'string' ? real.method : (this.methods.get(real.id) ?? '')
    const expected = structuredClone(transcript)
    const given = structuredClone(real)
    for (const deviation of this.deviations)
      if (unlike(deviation, about, expected, given)) this.unmet.delete(deviation)
    return [...shape, ...this.idFaults(expected, given), ...differences(expected, given, this.ids)]
  }

  // The ids of a host's own requests are learned as all else is, and are numbers.
  private idFaults(transcript: Record<string, unknown>, real: Record<string, unknown>): string[] {
    if (typeof transcript.method !== 'string' || typeof transcript.id !== 'number') return []
    if (typeof real.id !== 'number') return []
    const fault = this.requestIds.learn(String(transcript.id), String(real.id))
    delete transcript.id
    delete real.id
    return fault === undefined ? [] : [`id: ${fault}`]
  }

  private receiptId(id: unknown): object {
    return typeof id === 'number' ? { id: Number(this.requestIds.realOf(String(id))) } : {}
  }

  private toReal(value: unknown, path: readonly string[] = []): unknown {
    if (Array.isArray(value)) return value.map(each => this.toReal(each, path))
    if (isFrame(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, this.toReal(each, [...path, name])]),
      )
    }
    return typeof value === 'string' && ruleOf(path) === 'learned' ? this.ids.realOf(value) : value
  }
}

// No method at all, and no request of any transcript: whatever is still under way is told before its answer.
const BARRIER_ID = 'the end of the transcript'
export const BARRIER = JSON.stringify({ jsonrpc: '2.0', id: BARRIER_ID, method: 'transcript/ends' })

export function isBarrierAnswer(frame: Frame): boolean {
  return frame.id === BARRIER_ID
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
