import { isFrame } from './transcript.ts'

/** A member in which this host is unlike the one that was recorded, and is to stay so. */
export interface Deviation {
  /** The transcripts in which it is met. */
  readonly transcripts: readonly string[]
  /** The method that the frame is about: its own, or that of the request it answers. */
  readonly in: string
  /** The member, by its path. A number is a place in a list. */
  readonly at: string
  /** What this host does there. */
  readonly host: 'adds' | 'leaves out'
  readonly why: string
}

export const DEVIATIONS: readonly Deviation[] = [
  {
    transcripts: ['approval-deny-round-trip', 'approval-round-trip', 'snapshot-suffix-pending-approval'],
    in: 'approval/resolved',
    at: 'params.decidedAt',
    host: 'adds',
    why: 'the schema has it by now, and has current hosts say it; these were recorded before',
  },
  {
    transcripts: ['userinput-cancel-round-trip'],
    in: 'userInput/settled',
    at: 'params.decidedAt',
    host: 'adds',
    why: 'the schema requires it by now; this was recorded before',
  },
  {
    transcripts: [
      'userinput-answer-round-trip',
      'userinput-cancel-round-trip',
      'userinput-interrupt-round-trip',
    ],
    in: 'view/page',
    at: 'result.events.0',
    host: 'adds',
    why: 'the recorded view begins behind the start of its turn; one of this host has its turn/started',
  },
  {
    transcripts: ['userinput-interrupt-round-trip'],
    in: 'turn/completed',
    at: 'params.usage',
    host: 'leaves out',
    why: 'optional, and told by the agent at the end of a turn: one that is stopped is not waited for',
  },
]

type Members = Record<string, unknown> | unknown[]

/** True when the deviation is met in these frames; then it is taken out of them, so that the rest can be compared. */
export function unlike(deviation: Deviation, about: string, transcript: object, real: object): boolean {
  if (deviation.in !== about) return false
  const path = deviation.at.split('.')
  const name = path.pop() ?? ''
  const [there, here] = [within(transcript, path), within(real, path)]
  if (there === undefined || here === undefined) return false
  const [more, less] = deviation.host === 'adds' ? [here, there] : [there, here]
  if (Array.isArray(more) && Array.isArray(less)) {
    if (more.length !== less.length + 1) return false
    more.splice(Number(name), 1)
    return true
  }
  if (Array.isArray(more) || Array.isArray(less) || !(name in more) || name in less) return false
  delete more[name]
  return true
}

function within(frame: object, path: readonly string[]): Members | undefined {
  let value: unknown = frame
  for (const name of path) value = isFrame(value) ? value[name] : undefined
  return isFrame(value) || Array.isArray(value) ? value : undefined
}
