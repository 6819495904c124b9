import { describe, expect, test } from 'vitest'
import {
  CLIENT_NOTIFICATIONS,
  ERRORS,
  METHODS,
  NOTIFICATIONS,
  SERVER_REQUESTS,
  USER_INPUT_OUTCOMES,
  type WireErrorKind,
} from '../src/protocol/index.ts'
import { keptNames, readOwn } from './transcripts/own-files.ts'
import { isFrame, readFrame, type Frame, type TranscriptLine } from './transcripts/transcript.ts'

/** Kinds of errors that this host never sends, each with the reason. */
const NEVER_SENT: Readonly<Partial<Record<WireErrorKind, string>>> = {
  experimentalRequired: 'nothing here is experimental',
  sessionAmbiguous: 'the id of a session is its own alone',
  forkBoundaryInvalid: 'sessions are not forked here',
  skillNotFound: 'there are no skills here',
  computerUseUnavailable: 'there is no computer use here',
  uploadNotFound: 'nothing is uploaded here',
  outputUnavailable: 'outputs are part of their items here',
  boundaryPruned: 'nothing of a view is pruned here',
  boundaryUnusable: 'nothing is compacted here',
  approvalReviewerUnavailable: 'whoever asks for an approval is mounted together with what decides it',
}

/** Notifications that this host never sends, each with the reason. */
const NEVER_TOLD: Readonly<Record<string, string>> = {
  'item/updated': 'an item of this host changes once, when it is completed',
}

/** What the data of an error holds beside its kind, where it always holds something (MSP, errors). */
const DATA: Readonly<Partial<Record<WireErrorKind, readonly string[]>>> = {
  pageEventTooLarge: ['viewCursor'],
  inputTooLarge: ['limitBytes'],
  capabilityRequired: ['capability'],
  notFound: ['reason', 'sessionId', 'anchor'],
  sessionNotFound: ['sessionId'],
  sessionInUse: ['sessionId'],
  sessionNotLoaded: ['sessionId'],
  sessionStreamMismatch: ['sessionId'],
  commandRejected: ['commandId', 'reason'],
  backpressured: ['capacity'],
  viewTruncated: ['earliestCursor'],
  noBoundary: ['latestBoundaryCursor'],
  approvalNotFound: ['approvalId'],
  approvalAlreadyResolved: ['approvalId', 'resolution'],
  approvalChoiceInvalid: ['approvalId', 'choiceId'],
  approvalRequirementStale: ['approvalId', 'currentRequirementId'],
  userInputNotFound: ['userInputId'],
  userInputAlreadySettled: ['userInputId', 'settlement'],
  userInputAnswerInvalid: ['userInputId'],
}

const frames = keptNames().flatMap(name => readOwn(name).frames)

function sent(dir: TranscriptLine['dir']): Frame[] {
  return frames
    .filter(frame => frame.dir === dir)
    .map(({ raw }) => readFrame(raw))
    .filter(frame => frame !== undefined)
}

function methods(dir: TranscriptLine['dir'], isRequest: boolean): string[] {
  const found = sent(dir).filter(frame => 'id' in frame === isRequest)
  return [...new Set(found.flatMap(({ method }) => (typeof method === 'string' ? method : [])))]
}

interface SentError {
  readonly code: number
  readonly data: { readonly kind: string }
}

const errors = sent('server').flatMap(({ error }) => (isFrame(error) ? (error as unknown as SentError) : []))

describe("this host's own transcripts", () => {
  test.each(Object.keys(METHODS))('have %s asked of the host, and done', method => {
    const asked = sent('client').filter(frame => frame.method === method)
    expect(asked).not.toEqual([])
    const done = keptNames().some(name => {
      const ids = new Set<unknown>()
      return readOwn(name).frames.some(({ dir, raw }) => {
        const frame = readFrame(raw)
        if (dir === 'client' && frame?.method === method) ids.add(frame.id)
        return dir === 'server' && frame !== undefined && 'result' in frame && ids.has(frame.id)
      })
    })
    expect(done).toBe(true)
  })

  test('have everything told that can be told, both ways', () => {
    const told = Object.keys(NOTIFICATIONS).filter(method => !(method in NEVER_TOLD))
    expect(methods('server', false).toSorted()).toEqual(told.toSorted())
    expect(methods('server', true).toSorted()).toEqual(Object.keys(SERVER_REQUESTS).toSorted())
    expect(methods('client', false).toSorted()).toEqual(Object.keys(CLIENT_NOTIFICATIONS).toSorted())
  })

  test.each(USER_INPUT_OUTCOMES)('have a question that was %s', outcome => {
    const settled = sent('server').filter(({ method }) => method === 'userInput/settled')
    expect(settled.map(({ params }) => (params as Frame).outcome)).toContain(outcome)
  })

  test('have every kind of error that this host can send, and no other', () => {
    const kinds = Object.keys(ERRORS).filter(kind => !(kind in NEVER_SENT))
    expect([...new Set(errors.map(({ data }) => data.kind))].toSorted()).toEqual(kinds.toSorted())
  })

  test('have every error under its own code, with the data that belongs to its kind', () => {
    for (const { code, data } of errors) {
      const kind = data.kind as WireErrorKind
      expect(code, kind).toBe(ERRORS[kind].code)
      expect(Object.keys(data), kind).toEqual(expect.arrayContaining([...(DATA[kind] ?? [])]))
    }
  })

  test('have every reason for which this host rejects a command', () => {
    const reasons = errors.flatMap(({ data }) => ('reason' in data ? String(data.reason) : []))
    expect([...new Set(reasons)].toSorted()).toEqual([
      'command_id_conflict',
      'deferred_start_failed',
      'missingAnchor',
      'missing_run',
      'no_agent',
      'session_id_conflict',
    ])
  })
})
