import { ProtocolError } from '@modelcontextprotocol/server'
import { errorOfEnding } from './ending.ts'
import type { PauseOutcome } from './ledger.ts'

/** The result of an outcome. Throws what was thrown, and an ending as the error it is where results have no place for one. */
export function resultOf(outcome: PauseOutcome): unknown {
  if (outcome.kind === 'result') return outcome.result
  if (outcome.kind === 'ended') throw errorOfEnding(outcome)
  const { code, message, data } = outcome
  throw code === undefined ? new Error(message) : new ProtocolError(code, message, data)
}
