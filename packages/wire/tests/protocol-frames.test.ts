import { describe, expect, test } from 'vitest'
import {
  checkClientFrame,
  checkServerFrame,
  type Method,
  type NotificationParams,
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
const prompt = {
  sessionId,
  viewCursor: 'v:4',
  userInputId: 'u-1',
  turnId: 't-1',
  itemId: 'i-1',
  toolCallId: 'c-1',
  toolName: 'request_user_input',
  questions: [question],
}

const without = (value: object, name: string): object =>
  Object.fromEntries(Object.entries(value).filter(([each]) => each !== name))

const notification = { jsonrpc, method: 'userInput/settled', params: settled, emittedAtMs: 1_767_323_045_000 }
const serverRequest = { jsonrpc, id: 3, method: 'userInput/request', params: prompt }
const error = {
  code: -32_055,
  message: 'there is none',
  data: { kind: 'userInputNotFound', userInputId: 'u-1' },
}
const errorResponse = { jsonrpc, id: 'a', error }
const ack = { commandId, status: 'accepted', userInputId: 'u-1' }
const success = { jsonrpc, id: 7, result: ack }
const event = { method: 'userInput/settled', params: settled }
const page = { jsonrpc, id: 8, result: { events: [event], nextCursor: null } }

const asked: Readonly<Record<string, Method>> = { 7: 'userInput/cancel', 8: 'view/page' }
const methodOf = (id: string | number) => asked[id]

describe('a frame of a host', () => {
  test.each([
    ['a notification', notification],
    ['a request', serverRequest],
    ['a result', success],
    ['a result under a string', { ...success, id: '7' }],
    ['a page of the view', page],
    ['an error', errorResponse],
    ['an error about a frame without an id', { ...errorResponse, id: null }],
    ['members that are not known', { ...notification, later: 1, params: { ...settled, later: 1 } }],
    [
      'a word that is not known in an open set',
      { ...notification, params: { ...settled, outcome: 'later' } },
    ],
    [
      'a kind that has two codes',
      { ...errorResponse, error: { ...error, code: -32_602, data: { kind: 'experimentalRequired' } } },
    ],
  ])('may be %s', (_, frame) => {
    expect(checkServerFrame(frame, methodOf)).toEqual([])
  })

  test.each<[why: string, frame: unknown, faults: string[]]>([
    ['that is a list', [notification], ['is not an object']],
    ['that is null', null, ['is not an object']],
    ['of another version', { ...notification, jsonrpc: '1.0' }, ['jsonrpc: Invalid input: expected "2.0"']],
    ['without a version', without(success, 'jsonrpc'), ['jsonrpc: Invalid input: expected "2.0"']],
    ['that says nothing', { jsonrpc, id: 1 }, ['has neither a method nor a result nor an error']],
    [
      'that has a method and a result',
      { ...notification, result: {} },
      ['result: is not for a frame with a method'],
    ],
    [
      'that has a method and an error',
      { ...serverRequest, error },
      ['error: is not for a frame with a method'],
    ],
    ['that has a result and an error', { ...success, error }, ['has both a result and an error']],
    ['without the time', without(notification, 'emittedAtMs'), ['emittedAtMs: is not there as an integer']],
    [
      'with the time as text',
      { ...notification, emittedAtMs: '1' },
      ['emittedAtMs: Invalid input: expected number, received string'],
    ],
    [
      'with the time within the params',
      { ...notification, params: { ...settled, emittedAtMs: 1 } },
      ['params.emittedAtMs: belongs beside the params'],
    ],
    [
      'with null for params',
      { ...notification, params: null },
      ['params: Invalid input: expected object, received null'],
    ],
    [
      'that notifies of what is not known',
      { ...notification, method: 'goal/set' },
      ['method: goal/set is not known'],
    ],
    [
      'that notifies as a client',
      { ...notification, method: 'initialized' },
      ['method: initialized is not known'],
    ],
    [
      'named like a member of all objects',
      { ...notification, method: 'toString' },
      ['method: toString is not known'],
    ],
    [
      'whose params lack a member',
      { ...notification, params: without(settled, 'decidedAt') },
      ['params.decidedAt: Invalid input: expected string, received undefined'],
    ],
    [
      'whose params are wrong in two places',
      { ...notification, params: { ...settled, answers: null, viewCursor: 1 } },
      [
        'params.viewCursor: Invalid input: expected string, received number',
        'params.answers: Invalid input: expected array, received null',
      ],
    ],
    [
      'whose params are not there',
      { jsonrpc, method: 'view/gap', emittedAtMs: 1 },
      ['sessionId', 'after', 'next'].map(
        name => `params.${name}: Invalid input: expected string, received undefined`,
      ),
    ],
    ['that asks under a string', { ...serverRequest, id: '3' }, ['id: is not an integer above zero']],
    ['that asks under zero', { ...serverRequest, id: 0 }, ['id: is not an integer above zero']],
    [
      'that asks what a client asks',
      { ...serverRequest, method: 'view/page' },
      ['method: view/page is not known'],
    ],
    [
      'that asks with a word a closed set has not',
      { ...serverRequest, params: { ...prompt, questions: [{ ...question, selection: { mode: 'any' } }] } },
      ['params.questions[0].selection.mode: Invalid option: expected one of "single"|"multiple"'],
    ],
    [
      'whose result is no object',
      { ...success, result: true },
      ['result: Invalid input: expected object, received boolean'],
    ],
    [
      'whose result is a list',
      { ...success, result: [] },
      ['result: Invalid input: expected object, received array'],
    ],
    [
      'whose result is not that of its method',
      { ...success, result: without(ack, 'userInputId') },
      ['result.userInputId: Invalid input: expected string, received undefined'],
    ],
    ['whose result has null for an id', { ...success, id: null }, ['id: Invalid input']],
    ['whose error has no id', without(errorResponse, 'id'), ['id: Invalid input']],
    [
      'whose error has no data',
      { ...errorResponse, error: without(error, 'data') },
      ['error.data: is not there'],
    ],
    [
      'whose error has no kind',
      { ...errorResponse, error: { ...error, data: { userInputId: 'u-1' } } },
      ['error.data.kind: Invalid input: expected string, received undefined'],
    ],
    [
      'whose error is of a kind that is not known',
      { ...errorResponse, error: { ...error, data: { kind: 'toString' } } },
      ['error.data.kind: toString is not known'],
    ],
    [
      'whose error has the code of another kind',
      { ...errorResponse, error: { ...error, code: -32_056 } },
      ['error.code: -32056 is not that of userInputNotFound'],
    ],
    [
      'whose error has half a code',
      { ...errorResponse, error: { ...error, code: 0.5 } },
      ['error.code: Invalid input: expected int, received number'],
    ],
    [
      'whose page has an event without its source',
      {
        ...page,
        result: { events: [event, { ...event, params: without(settled, 'sourceRange') }], nextCursor: null },
      },
      ['result.events[1].params.sourceRange: Invalid input: expected object, received undefined'],
    ],
    [
      'whose page has a frame for an event',
      { ...page, result: { events: [notification], nextCursor: null } },
      ['jsonrpc', 'emittedAtMs'].map(name => `result.events[0]: has ${name}, which is for frames`),
    ],
    [
      'whose page has an event with the time within its params',
      {
        ...page,
        result: { events: [{ ...event, params: { ...settled, emittedAtMs: 1 } }], nextCursor: null },
      },
      ['result.events[0]: has emittedAtMs, which is for frames'],
    ],
    [
      'whose page has an event that is not as its method says',
      { ...page, result: { events: [{ ...event, params: { ...settled, answers: {} } }], nextCursor: null } },
      ['result.events[0].params.answers: Invalid input: expected array, received object'],
    ],
    [
      'whose page has an event that is not known',
      { ...page, result: { events: [{ ...event, method: 'goal/set' }], nextCursor: null } },
      ['result.events[0].method: goal/set is not known'],
    ],
    [
      'whose page does not say that it is the last',
      { ...page, result: { events: [] } },
      ['result.nextCursor: Invalid input: expected string, received undefined'],
    ],
  ])('%s is refused', (_, frame, faults) => {
    expect(checkServerFrame(frame, methodOf)).toEqual(faults)
  })

  test('has its result taken as any object where nobody knows what was asked', () => {
    expect(checkServerFrame({ jsonrpc, id: 7, result: {} })).toEqual([])
    expect(checkServerFrame({ jsonrpc, id: 9, result: {} }, methodOf)).toEqual([])
    expect(checkServerFrame({ jsonrpc, id: 9, result: {} }, () => 'model/list')).toEqual([])
  })
})

describe('a frame of a client', () => {
  const cancel = {
    jsonrpc,
    id: 'b9',
    method: 'userInput/cancel',
    params: { sessionId, commandId, userInputId: 'u-1' },
  }
  const engaged = { jsonrpc, method: 'userInput/engaged', params: { sessionId, userInputId: 'u-1' } }

  test.each([
    ['a command', cancel],
    ['a command with a trace', { ...cancel, trace: { traceparent: '00-1-1-01' } }],
    ['a note without params', { jsonrpc, method: 'initialized' }],
    ['a note', engaged],
    ['a receipt', { jsonrpc, id: 3, result: {} }],
    [
      'an error in place of a receipt',
      { jsonrpc, id: 3, error: { code: -32_601, message: 'no', data: { kind: 'methodNotFound' } } },
    ],
  ])('may be %s', (_, frame) => {
    expect(checkClientFrame(frame)).toEqual([])
  })

  test.each<[why: string, frame: unknown, faults: string[]]>([
    [
      'without a command id',
      { ...cancel, params: without(cancel.params, 'commandId') },
      ['params.commandId: Invalid input: expected string, received undefined'],
    ],
    ['under a fraction', { ...cancel, id: 1.5 }, ['id: Invalid input']],
    ['with a time', { ...engaged, emittedAtMs: 1 }, ['emittedAtMs: is for the host to say']],
    [
      'that asks what a host asks',
      { ...cancel, method: 'userInput/request' },
      ['method: userInput/request is not known'],
    ],
    [
      'that notifies as a host',
      { ...engaged, method: 'userInput/settled' },
      ['method: userInput/settled is not known'],
    ],
    [
      'whose receipt is null',
      { jsonrpc, id: 3, result: null },
      ['result: Invalid input: expected object, received null'],
    ],
  ])('%s is refused', (_, frame, faults) => {
    expect(checkClientFrame(frame)).toEqual(faults)
  })
})
