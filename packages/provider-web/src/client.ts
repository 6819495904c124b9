import { InboxClientError } from './client-error.ts'
import { wasNotSent } from './not-sent.ts'
import { readEvents } from './read-events.ts'
import type {
  AnswerEntry,
  OpenBody,
  Opened,
  PublicRequest,
  PublicSettlement,
  ReceiptBody,
  RequestPage,
} from './schemas.ts'

export interface InboxClientOptions {
  /** Where the server is, such as `http://127.0.0.1:4100/`, with the base path it is mounted at. */
  readonly url: string
  readonly token: string
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Where decisions are recorded to be made. Default: the server's, `web`. */
  readonly surface?: string | undefined
  /** How long an event stream may be silent before it counts as broken, in milliseconds. Default 45,000. */
  readonly silenceMs?: number | undefined
}

export interface ListOptions {
  readonly state?: 'pending' | 'settled' | undefined
  readonly session?: string | undefined
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/** How a decision is recorded. */
export interface DecisionOptions {
  /** Default: a new one. Give the same again to repeat a decision whose receipt was lost. */
  readonly commandId?: string | undefined
  readonly surface?: string | undefined
  readonly by?: 'user' | 'policy' | undefined
}

export interface StopOptions extends DecisionOptions {
  readonly reason?: string | undefined
  /** What was answered so far. */
  readonly answers?: readonly AnswerEntry[] | undefined
}

export interface EventOptions {
  readonly signal?: AbortSignal | undefined
  /** Default true. */
  readonly reconnect?: boolean | undefined
  /** Told when a stream is open, each time. */
  readonly opened?: (() => void) | undefined
}

export type SettledPublicRequest = PublicRequest & { readonly settlement: PublicSettlement }

export type InboxEvent =
  /** What is pending, or a part of it; `done` on the last part. It replaces what was known before the first. */
  | {
      readonly type: 'snapshot'
      readonly requests: readonly PublicRequest[]
      readonly done: boolean
      readonly cursor: string
    }
  /** Where the client had left off is not known any more; a snapshot follows. */
  | { readonly type: 'reset' }
  /** `opened` may tell again what a snapshot held, and what is settled by now: `request.settlement` says so. */
  | {
      readonly type: 'opened' | 'engaged' | 'settled'
      readonly request: PublicRequest
      /** Where to resume after this event. */
      readonly cursor: string
    }

const SILENCE_MS = 45_000
/** The wait before the first and before the later attempts to connect again, in milliseconds. */
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 10_000

/**
 * Speaks to an inbox server by `fetch` alone. Every refusal is an `InboxClientError`. What may be sent twice without
 * harm is, when the connection breaks: all but an `open` without a key. What may have reached the server, and got no answer,
 * is `WRITE_UNKNOWN` if it is no mere question; `UNREACHABLE` says that nothing was done.
 */
export class InboxClient {
  private readonly base: string
  private readonly token: string
  private readonly fetch: typeof globalThis.fetch
  private readonly surface: string | undefined
  private readonly silenceMs: number

  constructor({ url, token, fetch, surface, silenceMs = SILENCE_MS }: InboxClientOptions) {
    this.base = new URL('api/', url.endsWith('/') ? url : `${url}/`).href
    this.token = token
    this.fetch = fetch ?? ((input, init) => globalThis.fetch(input, init))
    this.surface = surface
    this.silenceMs = silenceMs
  }

  /** Opens a request, or joins the one of the same key. */
  open(request: OpenBody): Promise<Opened> {
    // Without a key, sending it again could ask twice.
    return this.call('POST', 'requests', request, { repeatable: request.key !== undefined })
  }

  async get(id: string): Promise<PublicRequest> {
    return (await this.call<{ request: PublicRequest }>('GET', pathOf(id))).request
  }

  list({ state, session, after, limit }: ListOptions = {}): Promise<RequestPage> {
    const query = new URLSearchParams(
      Object.entries({ state, session, after, limit }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)] as [string, string]],
      ),
    )
    return this.call('GET', `requests?${query.toString()}`)
  }

  /** Resolves when the request is settled. Once the server was reached, it is waited for through its restarts. */
  async wait(
    id: string,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<SettledPublicRequest> {
    for (let reached = false, attempt = 0; ;) {
      try {
        const { request } = await this.call<{ request?: PublicRequest }>(
          'GET',
          `${pathOf(id)}/wait`,
          undefined,
          { signal },
        )
        if (request !== undefined) return request as SettledPublicRequest
        reached = true
        attempt = 0
      } catch (error) {
        signal?.throwIfAborted()
        if (!reached || !mayPass(error)) throw error
        await pause((attempt += 1), signal)
      }
    }
  }

  /** Answers with one entry for each question, or with a typed line when there is one question. */
  answer(
    id: string,
    answer: readonly AnswerEntry[] | string,
    options: DecisionOptions = {},
  ): Promise<ReceiptBody> {
    return this.decide(
      id,
      'answer',
      options,
      typeof answer === 'string' ? { text: answer } : { answers: answer },
    )
  }

  decline(id: string, { reason, ...options }: DecisionOptions & { reason?: string | undefined } = {}) {
    return this.decide(id, 'decline', options, { reason })
  }

  clarify(id: string, text: string, options: DecisionOptions = {}): Promise<ReceiptBody> {
    return this.decide(id, 'clarify', options, { text })
  }

  cancel(id: string, { reason, answers, ...options }: StopOptions = {}): Promise<ReceiptBody> {
    return this.decide(id, 'cancel', options, { reason, answers })
  }

  interrupt(id: string, { reason, answers, ...options }: StopOptions = {}): Promise<ReceiptBody> {
    return this.decide(id, 'interrupt', options, { reason, answers })
  }

  /** Says that a person began to answer: the deadline no longer applies. */
  async engaged(id: string): Promise<PublicRequest> {
    return (await this.call<{ request: PublicRequest }>('POST', `${pathOf(id)}/engaged`, {})).request
  }

  /**
   * What is pending and what happens, from a snapshot or after `cursor`, until the signal aborts. A stream that breaks
   * is taken up where it was; only a first connection that fails, or a refusal, is thrown. With `reconnect: false` the
   * events end where the stream breaks.
   */
  async *events(
    cursor?: string,
    { signal, reconnect = true, opened }: EventOptions = {},
  ): AsyncGenerator<InboxEvent, void, void> {
    let lastId = cursor ?? ''
    for (let connected = false, partial = false, attempt = 0; ;) {
      if (signal?.aborted) return
      const connection = new AbortController()
      const drop = (): void => {
        // Here as well: whoever aborts may never come back for the next event.
        clearTimeout(watch)
        connection.abort()
      }
      let watch = setTimeout(drop, this.silenceMs)
      signal?.addEventListener('abort', drop)
      try {
        const headers = lastId === '' ? {} : { 'Last-Event-ID': lastId }
        const response = await this.request('GET', 'events', undefined, connection.signal, headers)
        connected = true
        const { body } = response
        const type = response.headers.get('content-type')
        if (body === null || type?.startsWith('text/event-stream') !== true) throw badResponse(200)
        opened?.()
        const alive = (): void => {
          clearTimeout(watch)
          watch = setTimeout(drop, this.silenceMs)
        }
        // What a broken connection gave of a snapshot is no part of the next one.
        if (partial) yield { type: 'reset' }
        partial = false
        for await (const { event, data, lastId: id } of readEvents(
          body as ReadableStream<Uint8Array>,
          lastId,
          alive,
          connection.signal,
        )) {
          attempt = 0
          // What the server could not read any more: the stream ends with it, and is taken up again.
          if (event === 'failed') continue
          lastId = id
          const told = { ...(JSON.parse(data) as object), type: event, cursor: id } as InboxEvent
          partial = told.type === 'snapshot' && !told.done
          yield told
        }
      } catch (error) {
        if (signal?.aborted) return
        if (!connected || !(mayPass(error) || !InboxClientError.isInstance(error))) throw error
      } finally {
        clearTimeout(watch)
        signal?.removeEventListener('abort', drop)
        connection.abort()
      }
      if (!reconnect) return
      await pause((attempt += 1), signal).catch(() => {})
    }
  }

  private decide(id: string, how: string, options: DecisionOptions, body: object): Promise<ReceiptBody> {
    const { commandId = crypto.randomUUID(), surface = this.surface, by } = options
    return this.call('POST', `${pathOf(id)}/${how}`, { commandId, surface, by, ...body })
  }

  private async call<T>(
    method: string,
    path: string,
    body?: object,
    { signal, repeatable = true }: { signal?: AbortSignal | undefined; repeatable?: boolean } = {},
  ): Promise<T> {
    const send = (): Promise<Response> => this.request(method, path, body, signal)
    const response = await send().catch(async (error: unknown) => {
      if (!repeatable || !hadNoAnswer(error)) throw error
      // Connections kept from before a restart may be found closed only when they are used: a little later they are.
      await pause(1, signal)
      return send().catch((again: unknown) => {
        // The second was not carried out; the first may have been.
        throw isUnknown(error) && mayPass(again) ? error : again
      })
    })
    try {
      return (await response.json()) as T
    } catch (error) {
      signal?.throwIfAborted()
      if (method !== 'GET' && !(error instanceof SyntaxError)) throw this.unknown(error)
      throw badResponse(response.status, error)
    }
  }

  private async request(
    method: string,
    path: string,
    body?: object,
    signal?: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    let response: Response
    try {
      response = await this.fetch(this.base + path, {
        method,
        headers: {
          ...headers,
          Authorization: `Bearer ${this.token}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
        // The token goes to this server alone.
        redirect: 'error',
        credentials: 'omit',
      })
    } catch (error) {
      signal?.throwIfAborted()
      if (method !== 'GET' && !wasNotSent(error)) throw this.unknown(error)
      throw new InboxClientError(`the inbox at ${this.base} cannot be reached`, {
        code: 'UNREACHABLE',
        status: 0,
        cause: error,
      })
    }
    if (!response.ok) throw await refusalOf(response)
    return response
  }

  private unknown(cause: unknown): InboxClientError {
    const message = `the inbox at ${this.base} went away without an answer, and it is not known whether this was done; ask for the request before you repeat it`
    return new InboxClientError(message, { code: 'WRITE_UNKNOWN', status: 0, cause })
  }
}

function pathOf(id: string): string {
  return `requests/${encodeURIComponent(id)}`
}

async function refusalOf(response: Response): Promise<InboxClientError> {
  const body = (await response.json().catch(() => undefined)) as Record<string, unknown> | undefined
  const { code, message } = body ?? {}
  if (typeof code !== 'string' || typeof message !== 'string') return badResponse(response.status)
  const seconds = Number(response.headers.get('retry-after') ?? NaN)
  return new InboxClientError(message, {
    code,
    status: response.status,
    body,
    ...(Number.isFinite(seconds) ? { retryAfterMs: seconds * 1_000 } : {}),
  })
}

function badResponse(status: number, cause?: unknown): InboxClientError {
  return new InboxClientError(`what answered with ${status} is not an inbox`, {
    code: 'BAD_RESPONSE',
    status,
    cause,
  })
}

function hadNoAnswer(error: unknown): boolean {
  return InboxClientError.isInstance(error) && error.status === 0
}

function isUnknown(error: unknown): boolean {
  return InboxClientError.isInstance(error) && error.code === 'WRITE_UNKNOWN'
}

// What another attempt may mend.
function mayPass(error: unknown): boolean {
  return (
    InboxClientError.isInstance(error) && (error.status === 0 || error.status === 429 || error.status >= 500)
  )
}

async function pause(attempt: number, signal?: AbortSignal): Promise<void> {
  const longest = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 10))
  // Not all at once, when a server comes back to many clients.
  const delayMs = longest * (0.5 + Math.random() / 2)
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, delayMs)
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
  })
}
