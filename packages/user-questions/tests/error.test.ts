import {
  OUTCOME_OF_CODE,
  PROVIDER_CODES,
  UserQuestionError,
  type UserQuestionErrorCode,
} from '@handraise/user-questions'
import { describe, expect, test } from 'vitest'

const answers = [{ id: 'db', selected: ['Yes, always'] }]
const issues = [{ path: 'questions[0].id', message: 'must not be blank' }]

/** Every code with its message, word for word: models read these. */
const MESSAGES: Record<UserQuestionErrorCode, readonly [details: object, message: string]> = {
  ASK_ABORTED: [{}, 'ask_user_question was aborted before the user answered'],
  EMPTY_QUESTIONS: [{}, 'ask_user_question requires at least one question'],
  CALLER_NOT_LIVE: [{}, 'human interaction requires the exact live calling agent when an agent is supplied'],
  DELEGATED_CALLER: [
    {},
    "human interaction is unavailable while the calling agent is owned by another live agent; include the unresolved question or decision in the child agent's final result",
  ],
  BAD_INTENT: [
    { question: 'plan', kind: 'plan-review', approve: 'Go', fault: 'detail' },
    'question plan declares intent plan-review without the detail it reviews',
  ],
  BAD_QUESTIONS: [{ issues }, 'the questions cannot be asked: questions[0].id: must not be blank'],
  NO_PROVIDER: [{}, 'no user-questions provider is registered'],
  DUPLICATE_PROVIDER: [{}, 'a user-questions provider is already registered'],
  ASK_CANCELLED: [
    { reason: 'closed', answers },
    'the user dismissed the questions without deciding (closed), with 1 answered so far: [{"id":"db","selected":["Yes, always"]}]; do not assume an answer, go on without it or ask again when it is needed',
  ],
  ASK_DECLINED: [
    { reason: 'not now' },
    'the user declined to answer (not now); do not ask the same again, go on without the answer or stop',
  ],
  ASK_CLARIFIED: [
    { text: 'wait, explain the "difference" first' },
    String.raw`the user wrote back instead of choosing: "wait, explain the \"difference\" first"; read it, then ask again if a decision is still needed`,
  ],
  ASK_INTERRUPTED: [{}, 'the user stopped the turn; stop and wait for the user'],
  ASK_TIMED_OUT: [
    { timeoutMs: 5 },
    'nobody answered within 5 ms; nothing was chosen, do not assume an answer',
  ],
  ASK_UNAVAILABLE: [
    { reason: 'not-interactive', advice: 'use --answers' },
    'nobody could be asked (not-interactive): use --answers; nobody has seen the question, do not assume an answer',
  ],
  PROVIDER_GONE: [
    {},
    'the place where the question was shown went away before the user answered; nothing was chosen, ask again later',
  ],
  PROVIDER_FAILED: [
    { provider: 'web', fault: 'no paper' },
    'the question could not be completed: the provider web failed: no paper; nothing was chosen',
  ],
  KEY_CONFLICT: [
    { key: 'call' },
    'the key "call" was used for other questions before; ask under a new tool call id',
  ],
  BAD_ANSWER: [
    { issues: [{ path: 'answers', message: 'nothing' }] },
    'the question could not be completed: the provider gave an answer that does not fit: answers: nothing; nothing was chosen',
  ],
}

describe('the message of', () => {
  for (const [code, [details, message]] of Object.entries(MESSAGES)) {
    test(`${code} says what happened, word for word`, () => {
      const error = new UserQuestionError(code as UserQuestionErrorCode, details)
      expect(error.message).toBe(message)
      expect(error).toMatchObject({ name: 'UserQuestionError', code, details })
    })
  }

  test('an ending without details leaves no gap', () => {
    for (const code of ['ASK_CANCELLED', 'ASK_DECLINED', 'ASK_INTERRUPTED', 'ASK_TIMED_OUT'] as const) {
      expect(new UserQuestionError(code).message).not.toMatch(/undefined|\(\)| ;|null/u)
    }
    expect(new UserQuestionError('ASK_CANCELLED', { reason: '', answers: [] }).message).toBe(
      new UserQuestionError('ASK_CANCELLED').message,
    )
  })

  test('only a refusal by the person blames the person', () => {
    const byThePerson = Object.entries(MESSAGES).filter(([, [, message]]) => message.startsWith('the user '))
    expect(byThePerson.map(([code]) => code).toSorted()).toEqual([
      'ASK_CANCELLED',
      'ASK_CLARIFIED',
      'ASK_DECLINED',
      'ASK_INTERRUPTED',
    ])
    for (const [, message] of Object.values(MESSAGES)) expect(message).not.toMatch(/denied|rejected/u)
  })

  test('words that ask to wait are quoted and not pushed past', () => {
    const { message } = new UserQuestionError('ASK_CLARIFIED', { text: 'wait, explain the difference first' })
    expect(message).toContain('"wait, explain the difference first"')
    expect(message).not.toMatch(/continue|proceed/iu)
  })
})

describe('an error of the seam', () => {
  test('keeps its cause', () => {
    const cause = new Error('x')
    expect(new UserQuestionError('ASK_ABORTED', {}, { cause }).cause).toBe(cause)
  })

  test('is known by its brand, whichever copy made it', () => {
    expect(UserQuestionError.isInstance(new UserQuestionError('NO_PROVIDER'))).toBe(true)
    expect(UserQuestionError.isInstance({ [Symbol.for('handraise.UserQuestionError')]: true })).toBe(true)
    for (const other of [undefined, null, 'NO_PROVIDER', new Error('x'), { code: 'NO_PROVIDER' }]) {
      expect(UserQuestionError.isInstance(other)).toBe(false)
    }
  })

  test('shows no brand when it is printed', () => {
    expect(Object.keys(new UserQuestionError('NO_PROVIDER')).toSorted()).toEqual(['code', 'details', 'name'])
  })
})

test('a provider may end an ask by six codes', () => {
  expect(PROVIDER_CODES.toSorted()).toEqual([
    'ASK_CANCELLED',
    'ASK_CLARIFIED',
    'ASK_DECLINED',
    'ASK_INTERRUPTED',
    'ASK_TIMED_OUT',
    'ASK_UNAVAILABLE',
  ])
})

test('no two of the ways to get no answer are reported as one another', () => {
  expect(OUTCOME_OF_CODE).toMatchObject({
    ASK_ABORTED: 'aborted',
    ASK_CANCELLED: 'cancelled',
    ASK_DECLINED: 'declined',
    ASK_CLARIFIED: 'clarified',
    ASK_INTERRUPTED: 'interrupted',
    ASK_TIMED_OUT: 'timedOut',
    ASK_UNAVAILABLE: 'unavailable',
    NO_PROVIDER: 'unavailable',
    PROVIDER_FAILED: 'failed',
    BAD_ANSWER: 'failed',
  })
  expect(Object.keys(OUTCOME_OF_CODE).toSorted()).toEqual(Object.keys(MESSAGES).toSorted())
})
