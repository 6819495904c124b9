import { answerSchema, questionSchema } from '@handraise/user-questions/types'
import { z } from 'zod'
import { STATUS_OF_CODE, type HttpErrorCode } from './http-error.ts'
import * as schemas from './schemas.ts'

const COMPONENTS = {
  Question: questionSchema,
  Answer: answerSchema,
  Request: schemas.requestSchema,
  Settlement: schemas.settlementSchema,
  Receipt: schemas.receiptSchema,
  RequestPage: schemas.requestPageSchema,
  OpenBody: schemas.openSchema,
  Opened: schemas.openedSchema,
  Got: schemas.gotSchema,
  Waited: schemas.waitedSchema,
  AnswerBody: schemas.answerBodySchema,
  DeclineBody: schemas.declineBodySchema,
  ClarifyBody: schemas.clarifyBodySchema,
  StopBody: schemas.stopBodySchema,
  EngagedBody: schemas.engagedBodySchema,
  SnapshotEvent: schemas.snapshotEventSchema,
  ChangeEvent: schemas.changeEventSchema,
  Error: schemas.errorSchema,
}

type ComponentName = keyof typeof COMPONENTS

interface Operation {
  readonly id: string
  readonly summary: string
  readonly query?: z.ZodType
  readonly headers?: Readonly<Record<string, string>>
  readonly path?: boolean
  readonly body?: ComponentName
  readonly replies: Readonly<Record<number, readonly [description: string, schema?: ComponentName]>>
  readonly errors: readonly HttpErrorCode[]
}

const ANY: readonly HttpErrorCode[] = [
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN_HOST',
  'FORBIDDEN_ORIGIN',
  'INTERNAL',
  'STORE_CLOSED',
  'DATABASE_UNREACHABLE',
  'WRITE_UNKNOWN',
  'DATABASE_REFUSED',
]
const BODY: readonly HttpErrorCode[] = ['TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
const SETTLE: readonly HttpErrorCode[] = [
  ...BODY,
  'UNKNOWN_REQUEST',
  'ALREADY_SETTLED',
  'COMMAND_CONFLICT',
  'UNKNOWN_KIND',
]

const deciding = (
  id: string,
  summary: string,
  body: ComponentName,
  errors: readonly HttpErrorCode[] = [],
): Operation => ({
  id,
  summary,
  path: true,
  body,
  replies: { 200: ['The receipt.', 'Receipt'] },
  errors: [...SETTLE, ...errors],
})

const PATHS: Readonly<Record<string, { readonly get?: Operation; readonly post?: Operation }>> = {
  '/api/requests': {
    get: {
      id: 'list',
      summary: 'Lists requests, a page at a time.',
      query: schemas.listQuerySchema,
      replies: { 200: ['A page.', 'RequestPage'] },
      errors: [],
    },
    post: {
      id: 'open',
      summary: 'Opens a request, or joins the one of the same key.',
      body: 'OpenBody',
      replies: { 201: ['Opened.', 'Opened'], 200: ['Joined.', 'Opened'] },
      errors: [...BODY, 'KEY_CONFLICT', 'UNKNOWN_KIND'],
    },
  },
  '/api/requests/{id}': {
    get: {
      id: 'get',
      summary: 'One request, pending or settled.',
      path: true,
      replies: { 200: ['The request.', 'Got'] },
      errors: ['UNKNOWN_REQUEST'],
    },
  },
  '/api/requests/{id}/wait': {
    get: {
      id: 'wait',
      summary: 'Waits until the request is settled, 30 seconds at most.',
      path: true,
      query: schemas.waitQuerySchema,
      replies: { 200: ['Settled, or pending still.', 'Waited'] },
      errors: ['UNKNOWN_REQUEST', 'TOO_MANY_STREAMS'],
    },
  },
  '/api/requests/{id}/answer': {
    post: deciding('answer', 'Answers the request.', 'AnswerBody', ['BAD_ANSWER']),
  },
  '/api/requests/{id}/decline': {
    post: deciding('decline', 'The person says no to answering.', 'DeclineBody'),
  },
  '/api/requests/{id}/clarify': {
    post: deciding('clarify', 'The person writes back instead of choosing.', 'ClarifyBody'),
  },
  '/api/requests/{id}/cancel': {
    post: deciding('cancel', 'Dismisses the request without a decision.', 'StopBody'),
  },
  '/api/requests/{id}/interrupt': {
    post: deciding('interrupt', 'The person stops the turn.', 'StopBody'),
  },
  '/api/requests/{id}/engaged': {
    post: {
      id: 'engaged',
      summary: 'A person began to answer: the deadline no longer applies.',
      path: true,
      body: 'EngagedBody',
      replies: { 200: ['The request.', 'Got'] },
      errors: [...BODY, 'UNKNOWN_REQUEST', 'ALREADY_SETTLED'],
    },
  },
  '/api/answer': {
    post: {
      id: 'answerTheOnlyOne',
      summary: 'Answers the one request that is pending.',
      body: 'AnswerBody',
      replies: { 200: ['The receipt.', 'Receipt'] },
      errors: [...SETTLE, 'NOTHING_PENDING', 'AMBIGUOUS', 'BAD_ANSWER'],
    },
  },
  '/api/events': {
    get: {
      id: 'events',
      summary:
        'Server-sent events. `snapshot` (the data is a SnapshotEvent), several when long; then `opened`, `engaged` and `settled` (a ChangeEvent), each with the cursor as its id; `reset` before a fresh snapshot when the cursor is not known any more. A snapshot may hold what `opened` then tells again. `failed` (the data is an error, with its code) comes before the end of a stream that cannot be read on; connect again.',
      query: schemas.eventsQuerySchema,
      headers: { 'Last-Event-ID': 'Where to resume: the id of the last event received.' },
      replies: { 200: ['The stream.'] },
      errors: ['TOO_MANY_STREAMS'],
    },
  },
  '/api/openapi.json': {
    get: { id: 'openapi', summary: 'This document.', replies: { 200: ['OpenAPI 3.1.'] }, errors: [] },
  },
}

/** The HTTP interface as OpenAPI 3.1, made from the schemas that read and describe it. */
export function openApiDocument(basePath = ''): object {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id })
  const { schemas: components } = z.toJSONSchema(registry, { uri: refTo, io: 'input' })
  for (const schema of Object.values(components)) {
    delete schema.$schema
    delete schema.$id
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Handraise inbox',
      version: '1',
      description:
        'Requests that wait for a person: list, answer, and follow them. Every refusal is JSON, `{ code, message }` and what the code tells besides.',
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    security: [{ token: [] }],
    paths: Object.fromEntries(
      Object.entries(PATHS).map(([path, operations]) => [
        path,
        Object.fromEntries(
          Object.entries(operations).map(([method, operation]) => [method, describe(operation)]),
        ),
      ]),
    ),
    components: {
      schemas: components,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

function describe({
  id,
  summary,
  query,
  headers = {},
  path = false,
  body,
  replies,
  errors,
}: Operation): object {
  // As they are once read: a number stands in a query as text.
  const asked = query === undefined ? {} : z.toJSONSchema(query, { io: 'output' }).properties
  const { $schema: _, ...idSchema } = z.toJSONSchema(schemas.idSchema)
  const parameters = [
    ...(path ? [{ name: 'id', in: 'path', required: true, schema: idSchema }] : []),
    ...Object.entries(asked ?? {}).map(([name, schema]) => ({ name, in: 'query', required: false, schema })),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ]
  return {
    operationId: id,
    summary,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(replies).map(([status, [description, schema]]) => [
          status,
          {
            description,
            content: schema === undefined ? (id === 'events' ? STREAM : ANYTHING) : json(schema),
          },
        ]),
      ),
      ...refusals([...ANY, ...errors]),
    },
  }
}

function refusals(codes: readonly HttpErrorCode[]): object {
  const statuses = [...new Set(codes.map(code => STATUS_OF_CODE[code]))].toSorted((a, b) => a - b)
  return Object.fromEntries(
    statuses.map(status => [
      status,
      {
        description: codes.filter(code => STATUS_OF_CODE[code] === status).join(', '),
        content: json('Error'),
      },
    ]),
  )
}

const STREAM = { 'text/event-stream': { schema: { type: 'string' } } }
const ANYTHING = { 'application/json': { schema: { type: 'object' } } }

function json(schema: ComponentName): object {
  return { 'application/json': { schema: { $ref: refTo(schema) } } }
}

function refTo(id: string): string {
  return `#/components/schemas/${id}`
}
