import { HandClock } from '../client-clock.ts'
import { host, type HostOptions, type Hosted, type Peer } from '../wired.ts'
import type { LineOptions } from './line.ts'
import type { Frame, TranscriptLine } from './transcript.ts'

/** Something that happens elsewhere while the client of a transcript is on its line, such as another client's answer. */
export interface Cue {
  /** The first frame of which this is true is the one after which it happens. Ids are those of the host. */
  after(frame: Frame, dir: TranscriptLine['dir']): boolean
  run(): Promise<void> | void
}

/** The host that a client of a transcript meets, and all that it does not know of it. */
export interface Scene {
  readonly hosted: Hosted
  /** Ids of the transcript that the client has from elsewhere, with those of the host. */
  readonly known?: Readonly<Record<string, string>> | undefined
  readonly cues?: readonly Cue[] | undefined
  readonly line?: LineOptions | undefined
  /** The host ends the line. */
  readonly ends?: true | undefined
}

export interface Scenario {
  readonly name: string
  /** Sets up what there is before the client's first frame. */
  set(): Promise<Scene>
}

/** When every clock of a scenario starts. */
const START = Date.UTC(2026, 0, 1, 9)

export function scenarioClock(): HandClock {
  const clock = new HandClock()
  clock.advance(START)
  return clock
}

/** A host at a time that is the same in every run, or the one of the clock given. */
export function stage(options: HostOptions = {}): Promise<Hosted> {
  return host({ clock: scenarioClock(), home: '/srv/handraise', ...options })
}

/** Tells the scene of each frame that passes, in order. */
export class CueSheet {
  private readonly waiting: Set<Cue>

  constructor({ cues = [] }: Scene) {
    this.waiting = new Set(cues)
  }

  async passed(frame: Frame, dir: TranscriptLine['dir']): Promise<void> {
    for (const cue of this.waiting) {
      if (!cue.after(frame, dir)) continue
      this.waiting.delete(cue)
      await cue.run()
    }
  }

  /** What never happened. */
  get left(): number {
    return this.waiting.size
  }
}

/** True of the host's frame of this method. */
export function told(method: string): Cue['after'] {
  return (frame, dir) => dir === 'server' && frame.method === method
}

/** A client of its own beside the one of the transcript. */
export async function another({ peer }: Hosted, capabilities?: object): Promise<Peer> {
  return peer().start(capabilities)
}

export type { Hosted }
