import { describe, expect, test, vi } from 'vitest'
import { schemaFingerprint } from '../src/host/fingerprint.ts'
import {
  checkServerFrame,
  clientInfoSchema,
  ERRORS,
  fitsFreeText,
  FREE_TEXT_LIMIT,
  METHODS,
  PROTECTED,
  userInputQuestionSchema,
  userInputSettledParamsSchema,
  viewPageParamsSchema,
  WireError,
  type NotificationParams,
  type WireErrorKind,
} from '../src/protocol/index.ts'

const jsonrpc = '2.0'
const sessionId = 's-1'
const commandId = '019a0000-0000-7000-8000-000000000001'
const position = { id: 'r-1', sequence: 1 }
const sourceRange = { stream: { kind: 'session', id: sessionId }, first: position, last: position }

const settled: NotificationParams<'userInput/settled'> = {
  sessionId,
  viewCursor: 'v:5',
  sourceRange,
  userInputId: 'u-1',
  outcome: 'cancelled',
  answers: [],
  clarification: null,
  reason: null,
  decidedByCommandId: commandId,
  decidedAt: '2026-01-02T03:04:05.000Z',
}

const question = {
  id: 'db',
  header: 'Database',
  question: 'Which one?',
  selection: { mode: 'single' },
  options: [{ label: 'Postgres' }],
}
const without = (value: object, name: string): object =>
  Object.fromEntries(Object.entries(value).filter(([each]) => each !== name))

describe('the shapes', () => {
  test.each(Object.keys(settled))('want the member %s of every settlement', name => {
    expect(userInputSettledParamsSchema.safeParse(settled).success).toBe(true)
    expect(userInputSettledParamsSchema.safeParse(without(settled, name)).success).toBe(false)
  })

  test('keep members that are not known, however deep', () => {
    const given = { ...question, later: { x: 1 }, options: [{ label: 'Postgres', later: [1] }] }
    expect(userInputQuestionSchema.parse(given)).toEqual(given)
  })

  test('let no member reach the prototype', () => {
    const read = userInputQuestionSchema.parse(
      JSON.parse(`{"__proto__":{"polluted":true},${JSON.stringify(question).slice(1)}`),
    )
    expect(read.polluted).toBeUndefined()
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
  })

  test.each([
    ['muse_code_2', true],
    ['Muse', false],
    ['a-b', false],
    ['', false],
    ['a\n', false],
  ])('take %j for the name of a client: %s', (name, taken) => {
    expect(clientInfoSchema.safeParse({ name, version: '1' }).success).toBe(taken)
  })

  test.each([
    [0, false],
    [1, true],
    [1_000, true],
    [1_001, false],
    [1.5, false],
    [undefined, false],
  ])('take %s for the limit of a page: %s', (limit, taken) => {
    expect(viewPageParamsSchema.safeParse({ sessionId, limit }).success).toBe(taken)
  })
})

describe('the limit of a free text', () => {
  test.each([
    ['letters at the limit', 'a'.repeat(FREE_TEXT_LIMIT), true],
    ['letters past it', 'a'.repeat(FREE_TEXT_LIMIT + 1), false],
    ['characters of two units each, at the limit', '🙂'.repeat(FREE_TEXT_LIMIT), true],
    ['characters of two units each, past it', '🙂'.repeat(FREE_TEXT_LIMIT + 1), false],
    ['nothing', '', true],
  ])('counts code points: %s', (_, text, fits) => {
    expect(fitsFreeText(text)).toBe(fits)
  })
})

/** Code and retryable of every kind, written down a second time. */
const CODES: Record<WireErrorKind, readonly [code: number, retryable: boolean | undefined]> = {
  parseError: [-32_700, false],
  invalidRequest: [-32_600, false],
  notInitialized: [-32_600, false],
  alreadyInitialized: [-32_600, false],
  methodNotFound: [-32_601, false],
  experimentalRequired: [-32_601, false],
  invalidParams: [-32_602, false],
  internal: [-32_603, false],
  pageEventTooLarge: [-32_603, false],
  outputResultTooLarge: [-32_603, false],
  overloaded: [-32_001, true],
  inputTooLarge: [-32_002, false],
  capabilityRequired: [-32_010, false],
  notFound: [-32_011, false],
  interrupted: [-32_013, undefined],
  cancelled: [-32_014, undefined],
  sessionNotFound: [-32_020, false],
  sessionInUse: [-32_021, false],
  sessionAmbiguous: [-32_022, false],
  forkBoundaryInvalid: [-32_023, false],
  sessionNotLoaded: [-32_024, false],
  sessionStreamMismatch: [-32_025, false],
  commandRejected: [-32_030, false],
  backpressured: [-32_031, true],
  skillNotFound: [-32_032, false],
  computerUseUnavailable: [-32_033, false],
  uploadNotFound: [-32_038, false],
  viewTruncated: [-32_040, false],
  outputUnavailable: [-32_041, false],
  boundaryPruned: [-32_042, false],
  boundaryUnusable: [-32_042, false],
  noBoundary: [-32_042, false],
  approvalNotFound: [-32_050, false],
  approvalAlreadyResolved: [-32_051, false],
  approvalChoiceInvalid: [-32_052, false],
  approvalRequirementStale: [-32_053, false],
  approvalReviewerUnavailable: [-32_054, false],
  userInputNotFound: [-32_055, false],
  userInputAlreadySettled: [-32_056, false],
  userInputAnswerInvalid: [-32_057, false],
}

describe('a wire error', () => {
  const kinds = Object.keys(CODES) as WireErrorKind[]

  test.each(kinds)('of the kind %s has its code and passes as a frame', kind => {
    const [code, retryable] = CODES[kind]
    const made = new WireError(kind, 'so it is')
    expect(made.toErrorObject()).toStrictEqual({ code, message: 'so it is', data: { kind } })
    expect(made.retryable).toBe(retryable ?? false)
    expect(checkServerFrame({ jsonrpc, id: 1, error: made.toErrorObject() })).toEqual([])
  })

  test('is made of every kind there is', () => {
    expect(Object.keys(ERRORS).toSorted()).toEqual(kinds.toSorted())
  })

  test('is an Error with a name, a message and a cause', () => {
    const cause = new Error('deeper')
    const made = new WireError('internal', 'so it is', {}, { cause })
    expect(made).toBeInstanceOf(Error)
    expect(String(made)).toBe('WireError: so it is')
    expect(made.cause).toBe(cause)
  })

  test('carries what it is given, and may be retryable against its kind', () => {
    const settlement = { outcome: 'answered', viewCursor: 'v:5' }
    const { data, retryable } = new WireError('userInputAlreadySettled', 'late', {
      userInputId: 'u-1',
      settlement,
      retryable: true,
    })
    expect(data).toEqual({ kind: 'userInputAlreadySettled', userInputId: 'u-1', settlement, retryable: true })
    expect(retryable).toBe(true)
  })

  test('keeps its kind whatever the data says', () => {
    const given = { kind: 'overloaded', userInputId: 'u-1' }
    expect(new WireError('internal', 'so it is', given).data.kind).toBe('internal')
  })

  test('is the same after the way over the wire', () => {
    const made = new WireError('commandRejected', 'used before', { commandId, reason: 'command_id_conflict' })
    const came = WireError.fromErrorObject(JSON.parse(JSON.stringify(made.toErrorObject())))
    expect(came.toErrorObject()).toEqual(made.toErrorObject())
    expect(came.kind).toBe('commandRejected')
  })

  test('comes of a kind that is not known with the code and data it had', () => {
    const given = { code: -32_099, message: 'new', data: { kind: 'later', more: { x: 1 } } }
    const came = WireError.fromErrorObject(given)
    expect({ kind: came.kind, code: came.code }).toEqual({ kind: 'later', code: -32_099 })
    expect(came.toErrorObject()).toEqual(given)
  })

  test('comes of a known kind with the code it had', () => {
    const given = { code: -32_602, message: 'not yet', data: { kind: 'experimentalRequired' } }
    expect(WireError.fromErrorObject(given).code).toBe(-32_602)
  })

  test.each([
    [-32_601, 'methodNotFound'],
    [-32_600, 'invalidRequest'],
    [-1, 'unknown'],
  ])('comes without data under the code %i as %s', (code, kind) => {
    const came = WireError.fromErrorObject({ code, message: 'plain' })
    expect({ kind: came.kind, code: came.code, message: came.message }).toEqual({
      kind,
      code,
      message: 'plain',
    })
  })

  test('is known for one whichever copy of the package made it', async () => {
    vi.resetModules()
    const copy = await import('../src/protocol/index.ts')
    const made = new copy.WireError('internal', 'so it is')
    expect(made).not.toBeInstanceOf(WireError)
    expect(WireError.isInstance(made)).toBe(true)
    for (const other of [
      new Error('internal'),
      { kind: 'internal', code: -32_603 },
      null,
      undefined,
      'WireError',
    ])
      expect(WireError.isInstance(other)).toBe(false)
  })
})

describe('the tables', () => {
  test('protect what ends a prompt and what says that something is missing', () => {
    expect(PROTECTED).toEqual(['approval/resolved', 'userInput/settled', 'view/gap'])
  })

  test('have a command id in the params of commands and of nothing else', () => {
    for (const [name, { params, command }] of Object.entries(METHODS))
      expect('commandId' in params.shape, name).toBe(command)
  })
})

describe('the fingerprint', () => {
  test('is a hash that is the same every time', () => {
    expect(schemaFingerprint()).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(schemaFingerprint()).toBe(schemaFingerprint())
  })

  test('is the same in another copy of the package', async () => {
    vi.resetModules()
    const copy = await import('../src/host/fingerprint.ts')
    expect(copy.schemaFingerprint).not.toBe(schemaFingerprint)
    expect(copy.schemaFingerprint()).toBe(schemaFingerprint())
  })
})
