import { checkServerFrame } from '../../src/protocol/index.ts'
import { Line } from './line.ts'
import { BARRIER, isBarrierAnswer } from './player.ts'
import { CueSheet, type Scenario, type Scene } from './scenario.ts'
import { readableLines } from './readable.ts'
import { readFrame, type Frame, type Transcript, type TranscriptLine } from './transcript.ts'

/** A scenario that says itself what the client does. */
export interface OwnScenario extends Scenario {
  script(client: Client): Promise<void>
}

/** Runs a scenario, and gives what went over the line, with ids and all else that changes from run to run made readable. */
export async function record({ name, set, script }: OwnScenario): Promise<Transcript> {
  const client = new Client(await set())
  await script(client)
  await client.end()
  return { name, frames: readableLines(client.lines) }
}

/** The client of a script. It reads a frame only when it waits for one, so that each is where the script has it. */
export class Client {
  readonly lines: TranscriptLine[] = []
  private readonly scene: Scene
  private readonly line: Line
  private readonly cues: CueSheet
  private readonly methods = new Map<unknown, string>()
  private readonly heard: Frame[] = []
  // Where a wait begins to look: behind what was waited for before, and behind what was sent.
  private from = 0
  private ids = 0
  private commands = 0

  constructor(scene: Scene) {
    this.scene = scene
    this.line = new Line(scene.hosted.ctx, scene.line)
    this.cues = new CueSheet(scene)
  }

  /** A command id that no other call of this client has. */
  commandId(): string {
    this.commands += 1
    return `019b7760-0000-7000-8000-${String(this.commands).padStart(12, '0')}`
  }

  async initialize(capabilities?: object): Promise<Frame> {
    const clientInfo = { name: 'transcript_client', version: '1.0.0' }
    return this.call('initialize', { clientInfo, ...(capabilities === undefined ? {} : { capabilities }) })
  }

  async start(capabilities?: object): Promise<this> {
    await this.initialize(capabilities)
    await this.send({ method: 'initialized' })
    return this
  }

  /** Starts a session, and gives its id. */
  async session(params: object = {}): Promise<string> {
    const { session } = await this.call('session/start', { commandId: this.commandId(), ...params })
    return (session as { readonly sessionId: string }).sessionId
  }

  /** Starts a turn, and gives the ack. */
  async turn(sessionId: string, text = 'Go on', more: object = {}): Promise<Frame> {
    const input = [{ type: 'text', text }]
    return this.call('turn/start', { sessionId, commandId: this.commandId(), input, ...more })
  }

  async send(frame: object): Promise<void> {
    await this.sendRaw(JSON.stringify({ jsonrpc: '2.0', ...frame }))
  }

  async sendRaw(raw: string): Promise<void> {
    const frame = readFrame(raw)
    if (typeof frame?.method === 'string') this.methods.set(frame.id, frame.method)
    this.lines.push({ dir: 'client', raw })
    this.from = this.heard.length
    this.line.send(raw)
    if (frame !== undefined) await this.cues.passed(frame, 'client')
  }

  /** Sends a request, and gives its answer: the frame with a result or an error. */
  async request(method: string, params?: object): Promise<Frame> {
    this.ids += 1
    const id = this.ids
    await this.send({ id, method, ...(params === undefined ? {} : { params }) })
    return this.answerTo(id)
  }

  async call(method: string, params?: object): Promise<Frame> {
    const answer = await this.request(method, params)
    if (!('result' in answer)) throw new Error(`${method} failed: ${JSON.stringify(answer.error)}`)
    return answer.result as Frame
  }

  async fails(method: string, params?: object): Promise<void> {
    const answer = await this.request(method, params)
    if (!('error' in answer)) throw new Error(`${method} did not fail: ${JSON.stringify(answer.result)}`)
  }

  /** The answer to a request. What was told before it can still be waited for. */
  async answerTo(id: string | number | null): Promise<Frame> {
    return this.find(frame => frame.id === id && !('method' in frame))
  }

  async until(holds: (frame: Frame) => boolean): Promise<Frame> {
    const frame = await this.find(holds)
    this.from = this.heard.indexOf(frame) + 1
    return frame
  }

  /** The parameters of the next notification of this method. */
  async told(method: string): Promise<Frame> {
    const { params } = await this.until(frame => frame.method === method)
    return params as Frame
  }

  /** The parameters of the host's next request of this method, for which it gets the receipt. */
  async asked(method: string): Promise<Frame> {
    const { id, params } = await this.until(frame => frame.method === method)
    await this.send({ id, result: {} })
    return params as Frame
  }

  async end(): Promise<void> {
    if (this.scene.ends !== true) {
      await this.line.sendLast(BARRIER)
      while (!isBarrierAnswer(await this.pull()));
      this.lines.pop()
    } else {
      const more = await this.line.next()
      if (more !== undefined) throw new Error(`the host was to end the line, and said ${more}`)
    }
    if (this.cues.left > 0) throw new Error(`${this.cues.left} cues never came`)
  }

  private async find(holds: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.heard.slice(this.from).find(holds)
      if (found !== undefined) return found
      await this.pull()
    }
  }

  private async pull(): Promise<Frame> {
    const raw = await this.line.next()
    if (raw === undefined) throw new Error('the host has ended the line')
    const frame = readFrame(raw)
    if (frame === undefined) throw new Error(`this is no frame: ${raw}`)
    const faults = checkServerFrame(frame, id => this.methods.get(id))
    if (faults.length > 0) throw new Error(`${faults.join('; ')}: ${raw}`)
    this.lines.push({ dir: 'server', raw })
    this.heard.push(frame)
    await this.cues.passed(frame, 'server')
    return frame
  }
}
