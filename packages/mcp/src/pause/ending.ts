import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Asked } from './asked.ts'
import type { PauseOutcome } from './ledger.ts'
import type { EndedPause } from './pause-ending.ts'

/** The code of an ending where it is a JSON-RPC error, of those that MCP leaves to implementations. */
export const PAUSE_ENDED = -32010

type EndedOutcome = Extract<PauseOutcome, { kind: 'ended' }>

export function endedBy(how: 'declined' | 'cancelled', name: string, asked: Asked): EndedOutcome {
  const said =
    how === 'declined'
      ? 'was declined in the client, by the user or because it shows no dialog'
      : 'was dismissed in the client without a decision'
  return { kind: 'ended', how, message: `${quoted(asked)} ${said}. ${name} did not go on.` }
}

export function endedByAnswer(name: string, asked: Asked, content: unknown): EndedOutcome {
  const answer = JSON.stringify(content) as string | undefined
  const message = `The user answered ${answer ?? 'nothing'} to ${quoted(asked)}. ${name} did not go on.`
  return { kind: 'ended', how: 'answered', message }
}

export function endedByFaults(
  name: string,
  asked: readonly Asked[],
  faults: ReadonlyMap<string, string>,
  attempts: number,
): EndedOutcome {
  const told = asked.flatMap(each => {
    const fault = faults.get(each.id)
    return fault === undefined ? [] : [`${quoted(each)} (${fault})`]
  })
  const message = `No answer that can be used came after ${attempts} attempts: ${told.join('; ')}. ${name} did not go on.`
  return { kind: 'ended', how: 'unusable', message }
}

export function endedUnknown(name: string): EndedOutcome {
  const message = `${name} was answered once and has been started before; whether it ended is not known here. It was not done again: look first, then call it anew.`
  return { kind: 'ended', how: 'started', message }
}

/** For whoever is told that a pause was given up; its client is asked again. */
export function endedLate(name: string): Pick<EndedPause, 'how' | 'message'> {
  return { how: 'expired', message: `The answer to ${name} came too late to be used.` }
}

/** An ending as prompts and resources tell it, whose results have no place for one. */
export function errorOfEnding({ how, message }: EndedOutcome): ProtocolError {
  const code = how === 'unusable' ? ProtocolErrorCode.InvalidParams : PAUSE_ENDED
  return new ProtocolError(code, message, { reason: how })
}

function quoted(asked: Asked): string {
  return JSON.stringify(asked.kind === 'client' ? asked.method : asked.message)
}
