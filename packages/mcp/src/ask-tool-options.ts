import { AUTO_REPLY_MS } from '@handraise/elicitation'
import type { PrincipalOption } from './pause/principal.ts'

/** Where a person may answer what a client asks. */
export const ANSWER_IN = ['client', 'inbox', 'both'] as const

/**
 * What is asked is in the inbox in any case, and may be answered there.
 *
 * - `client`: by a form in the client that asks, where it can show one; else in the inbox.
 * - `inbox`: in the inbox alone.
 * - `both`: by a form, and they are told of the page as well.
 */
export type AnswerIn = (typeof ANSWER_IN)[number]

export interface AskToolOptions {
  /** Default `client`. */
  readonly answerIn?: AnswerIn | undefined
  /**
   * How long one call waits before it returns that the user has not answered yet, in milliseconds: less than the client's own
   * limit for a call, which is 60,000 in the official clients. Default 50,000.
   */
  readonly callLimitMs?: number | undefined
  /** How often a client that wants progress is told that its call waits still, in milliseconds. Default 10,000. */
  readonly progressEveryMs?: number | undefined
  /** Who asks, as for `Pauses`: nobody finds what another has asked. Default `local`. */
  readonly principal?: PrincipalOption | undefined
  /**
   * Where people answer what is in the inbox, such as `http://127.0.0.1:4100/`. The model is told, so it holds no token. Asked
   * for whenever a request is to be answered there, with the address that was found for that request before, if any. Default: no
   * place that could be told.
   */
  readonly page?:
    ((before: string | undefined) => Promise<string | undefined> | string | undefined) | undefined
  /**
   * A form that comes back faster than this, in milliseconds, accepted, declined or cancelled, was so by the client and not by a
   * person: no dialog was shown. That is no answer, no refusal and no dismissal: the question waits in the inbox. Default 300; 0
   * takes every reply as a person's.
   */
  readonly autoDeclineMs?: number | undefined
  /** Names of clients (`clientInfo.name`) whose declines are never a person's, however long they take. Default none. */
  readonly neverDeclines?: readonly string[] | undefined
}

type Given<Names extends keyof AskToolOptions> = {
  readonly [Name in Names]-?: Exclude<AskToolOptions[Name], undefined>
}

export type AskToolSettings = Given<Exclude<keyof AskToolOptions, 'page'>> & Pick<AskToolOptions, 'page'>

/** Throws `RangeError` for a time that is none. */
export function settingsOf(options: AskToolOptions): AskToolSettings {
  const { callLimitMs = 50_000, progressEveryMs = 10_000 } = options
  for (const [name, ms] of Object.entries({ callLimitMs, progressEveryMs }))
    if (!(ms > 0)) throw new RangeError(`${name} must be more than 0, not ${ms}`)
  return {
    answerIn: options.answerIn ?? 'client',
    callLimitMs,
    progressEveryMs,
    principal: options.principal ?? 'local',
    page: options.page,
    autoDeclineMs: options.autoDeclineMs ?? AUTO_REPLY_MS,
    neverDeclines: options.neverDeclines ?? [],
  }
}
