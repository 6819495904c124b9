import type {
  InboxClient,
  InboxClientError,
  PublicRequest,
  PublicSettlement,
  SettledPublicRequest,
} from '@handraise/provider-web'
import { APPROVAL } from '@handraise/user-approvals'
import {
  askUserQuestionAnswerSchema,
  isBlank,
  UserQuestionError,
  visibleLine,
  visibleText,
  type Answer,
  type AskUserQuestionRequest,
  type Question,
  type UserQuestionErrorCode,
} from '@handraise/user-questions/types'
import { chooseProvider } from '../choose-provider.ts'
import { CommandError } from '../command-error.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { connectInbox, type InboxChoice } from '../inbox-connection.ts'
import { parseJson, readJson } from '../read-json.ts'
import { writeLine } from '../json-line.ts'
import { writeReport, type Report } from '../report.ts'
import { settledAnswers } from '../settled-answers.ts'
import { handleSignals } from '../signals.ts'

export interface JsonChoice extends InboxChoice {
  readonly json?: boolean | undefined
}

/** `handraise ask --inbox`: opens the request there, and waits for it unless told not to. */
export async function askInbox(
  { questions, session, key, timeoutMs }: AskUserQuestionRequest,
  options: JsonChoice & { readonly detach?: boolean | undefined },
): Promise<ExitCode> {
  const client = await connectInbox(options)
  // Without a key it would belong to this process, which is about to end.
  const kept = key ?? (options.detach === true ? crypto.randomUUID() : undefined)
  const { request } = await client.open({
    questions: questions as PublicRequest['questions'],
    ...(session === undefined ? {} : { session }),
    ...(kept === undefined ? {} : { key: kept }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })
  if (options.detach === true) {
    process.stdout.write(`${request.id}\n`)
    return EXIT.answered
  }
  return waitFor(client, request.id, options, kept === undefined)
}

/** `handraise wait`: until the request is settled. */
export async function wait(id: string, options: JsonChoice): Promise<ExitCode> {
  return waitFor(await connectInbox(options), id, options, false)
}

async function waitFor(
  client: InboxClient,
  id: string,
  { json }: JsonChoice,
  withdraws: boolean,
): Promise<ExitCode> {
  const stop = new AbortController()
  const release = handleSignals(signal => stop.abort(signal))
  try {
    return writeReport(reportSettlement(await client.wait(id, { signal: stop.signal })), json === true)
  } catch (error) {
    if (!stop.signal.aborted) throw error
    // Without a key nobody can come back for the answer.
    if (withdraws) await client.cancel(id, { reason: 'the asker went away' }).catch(() => {})
    const kept = withdraws
      ? 'the question was withdrawn'
      : `the question stays; wait for it with: handraise wait ${id}`
    throw new CommandError('SIGNALLED', `stopped by ${String(stop.signal.reason)}; ${kept}`, { cause: error })
  } finally {
    release()
  }
}

/** `handraise pending` and `handraise history`. */
export async function list(
  state: 'pending' | 'settled',
  options: JsonChoice & { readonly session?: string | undefined; readonly limit?: number | undefined },
): Promise<ExitCode> {
  const client = await connectInbox(options)
  const requests: PublicRequest[] = []
  const { limit = Infinity, session } = options
  for (
    let after: string | undefined, more = true;
    more && requests.length < limit;
    more = after !== undefined
  ) {
    const page = await client.list({ state, session, after, limit: Math.min(1_000, limit - requests.length) })
    requests.push(...page.requests)
    after = page.next
  }
  if (options.json === true) writeLine(process.stdout, requests)
  else for (const request of requests) process.stdout.write(`${describe(request)}\n`)
  return EXIT.answered
}

/** `handraise show`. */
export async function show(id: string, options: JsonChoice): Promise<ExitCode> {
  const request = await (await connectInbox(options)).get(id)
  if (options.json === true) {
    writeLine(process.stdout, request)
    return EXIT.answered
  }
  const lines = [describe(request)]
  for (const { question, detail = '', options: offered = [] } of request.questions ?? []) {
    lines.push(`  ${visibleLine(question)}`)
    // All of it, however long: what is decided about is here, and nowhere in the title.
    if (!isBlank(detail)) lines.push(...linesOf(detail).map(line => `    ${line}`))
    offered.forEach(({ label, description = '' }, index) => {
      lines.push(`    ${index + 1}. ${visibleLine(label)}`)
      if (!isBlank(description)) lines.push(`       ${visibleLine(description)}`)
    })
  }
  process.stdout.write(`${lines.join('\n')}\n`)
  return EXIT.answered
}

/** `handraise answer`: by JSON, by a typed line, or by a prompt in this terminal. */
export async function answer(
  id: string,
  given: string | undefined,
  options: JsonChoice & { readonly text?: string | undefined; readonly plain?: boolean | undefined },
): Promise<ExitCode> {
  const client = await connectInbox(options)
  if (options.text !== undefined) return settle(client.answer(id, options.text), options)
  if (given === undefined) return answerHere(client, id, options)
  const value = given === '-' ? await readJson('-') : parseJson(given, 'the answer')
  const parsed = askUserQuestionAnswerSchema.safeParse(value)
  if (!parsed.success) {
    throw new CommandError(
      'BAD_INPUT',
      'the answer: expected {"answers":[{"id","selected":[labels],"custom"?}]}',
    )
  }
  return settle(client.answer(id, entries(parsed.data.answers)), options)
}

/** `handraise decline`, `clarify` and `cancel`. */
export async function end(
  id: string,
  how: 'decline' | 'clarify' | 'cancel',
  options: JsonChoice & { readonly reason?: string | undefined; readonly text?: string | undefined },
): Promise<ExitCode> {
  const client = await connectInbox(options)
  const { reason, text = '' } = options
  if (how === 'clarify') return settle(client.clarify(id, text), options)
  return settle(how === 'decline' ? client.decline(id, { reason }) : client.cancel(id, { reason }), options)
}

async function answerHere(
  client: InboxClient,
  id: string,
  options: JsonChoice & { plain?: boolean | undefined },
): Promise<ExitCode> {
  const request = await client.get(id)
  if (request.settlement !== undefined) throw alreadySettled(id, request.settlement)
  const { questions } = request
  if (questions === undefined)
    throw new CommandError(
      'BAD_INPUT',
      `request ${id} is of the kind ${request.kind}, which cannot be shown here`,
    )
  const { provider, close } = await chooseProvider({ plain: options.plain }, false)
  const elsewhere = new AbortController()
  const settledElsewhere = client
    .wait(id, { signal: elsewhere.signal })
    .then(({ settlement }) => elsewhere.abort(takenDown(id, settlement)))
    .catch(() => {})
  try {
    const engaged = (): void => void client.engaged(id).catch(() => {})
    const { answers } = await provider.ask({ id, questions, signal: elsewhere.signal, engaged })
    return await settle(client.answer(id, entries(answers)), options)
  } catch (error) {
    if (UserQuestionError.isInstance(error) && error.cause instanceof CommandError) throw error.cause
    if (!UserQuestionError.isInstance(error)) throw error
    switch (error.code) {
      case 'ASK_DECLINED':
        return await settle(client.decline(id), options)
      case 'ASK_CLARIFIED':
        return await settle(client.clarify(id, error.details.text), options)
      case 'ASK_INTERRUPTED':
        return await settle(client.interrupt(id, { answers: entries(error.details.answers ?? []) }), options)
      case 'ASK_CANCELLED':
        writeLine(process.stderr, {
          code: error.code,
          message: `left unanswered; request ${id} stays pending`,
        })
        return EXIT.cancelled
      default:
        throw error
    }
  } finally {
    elsewhere.abort()
    close()
    await settledElsewhere
  }
}

async function settle(
  deciding: Promise<{ readonly request: PublicRequest }>,
  { json }: JsonChoice,
): Promise<ExitCode> {
  const { request } = await deciding
  if (json === true) writeLine(process.stdout, request)
  else process.stdout.write(`${describe(request)}\n`)
  return EXIT.answered
}

/** What the inbox refused, in the words of a command. */
export function refusalOf({ code, message, settlement, body }: InboxClientError): CommandError {
  // Nothing was sent, or it was a mere question.
  if (code === 'UNREACHABLE') return new CommandError('ASK_UNAVAILABLE', `${message}; nobody was asked`)
  if (code === 'DATABASE_UNREACHABLE' || code === 'DATABASE_REFUSED' || code === 'WRITE_UNKNOWN')
    return new CommandError(code, message)
  if (code === 'STORE_CLOSED') return new CommandError('ASK_UNAVAILABLE', `${message}; nobody was asked`)
  if (code === 'UNAUTHORIZED') return new CommandError('BAD_USAGE', message)
  if (code === 'ALREADY_SETTLED' && settlement !== undefined)
    return alreadySettled(typeof body['id'] === 'string' ? body['id'] : 'of that id', settlement)
  const bad = [
    'UNKNOWN_REQUEST',
    'BAD_ANSWER',
    'BAD_REQUEST',
    'KEY_CONFLICT',
    'COMMAND_CONFLICT',
    'UNKNOWN_KIND',
    'AMBIGUOUS',
  ]
  return new CommandError(bad.includes(code) ? 'BAD_INPUT' : 'INTERNAL', message)
}

// As an inbox tells a provider of its own, so that the prompt says who it was.
function takenDown(id: string, settlement: PublicSettlement): UserQuestionError {
  const { outcome, surface } = settlement
  const reason = surface === undefined ? outcome : `${outcome} by ${surface}`
  return new UserQuestionError('ASK_ABORTED', { reason }, { cause: alreadySettled(id, settlement) })
}

function alreadySettled(id: string, { outcome, surface, settledAt }: PublicSettlement): CommandError {
  const by = surface === undefined ? '' : ` by ${surface}`
  return new CommandError(
    'ALREADY_SETTLED',
    `request ${id} was ${outcome} already${by}, at ${new Date(settledAt).toISOString()}`,
  )
}

const CODE_OF_OUTCOME: Readonly<Record<PublicSettlement['outcome'], UserQuestionErrorCode | undefined>> = {
  answered: undefined,
  declined: 'ASK_DECLINED',
  cancelled: 'ASK_CANCELLED',
  clarified: 'ASK_CLARIFIED',
  interrupted: 'ASK_INTERRUPTED',
  timedOut: 'ASK_TIMED_OUT',
  aborted: 'ASK_ABORTED',
}

function reportSettlement(request: SettledPublicRequest): Report {
  const { outcome, reason, text, by } = request.settlement
  const answers = settledAnswers(request)
  const defaulted = outcome === 'timedOut' && answers.length > 0
  const code = defaulted ? undefined : CODE_OF_OUTCOME[outcome]
  const message =
    code === undefined
      ? {}
      : { code, message: `the request was ${outcome}${reason === undefined ? '' : `: ${reason}`}` }
  return { outcome, answers, by, ...message, reason, text }
}

function entries(
  answers: readonly Answer[],
): Array<{ id: string; selected: string[]; custom?: string; note?: string }> {
  return answers.map(({ id, selected, custom, note }) => ({
    id,
    selected: [...selected],
    ...(custom === undefined ? {} : { custom }),
    ...(note === undefined ? {} : { note }),
  }))
}

function linesOf(text: string): string[] {
  return visibleText(text).trimEnd().split('\n')
}

// One line: the id first, so that it can be copied.
function describe(request: PublicRequest): string {
  const { id, kind, session, openedAt, deadline, questions, settlement } = request
  const [first] = questions ?? []
  const more = questions !== undefined && questions.length > 1 ? ` (and ${questions.length - 1} more)` : ''
  const until = deadline === undefined ? '' : ` until ${new Date(deadline).toISOString()}`
  const parts = [
    id,
    new Date(openedAt).toISOString(),
    ...(session === undefined ? [] : [session]),
    `${first === undefined ? kind : titleOf(kind, first)}${more}`,
    settlement === undefined ? `pending${until}` : describeSettlement(request, settlement),
  ]
  return visibleLine(parts.join('  '))
}

// An approval has the tool for a header, which says nothing of what it would do.
function titleOf(kind: string, { header, question }: Pick<Question, 'header' | 'question'>): string {
  return kind === APPROVAL ? question : (header ?? question)
}

function describeSettlement(
  request: PublicRequest,
  { outcome, surface, settledAt, reason, text }: PublicSettlement,
): string {
  const said = settledAnswers(request).flatMap(({ selected, custom, note }) => [
    ...selected,
    ...(custom === undefined ? [] : [JSON.stringify(custom)]),
    ...(note === undefined ? [] : [JSON.stringify(note)]),
  ])
  const details = [
    ...said,
    ...(reason === undefined ? [] : [reason]),
    ...(text === undefined ? [] : [JSON.stringify(text)]),
  ]
  const by = surface === undefined ? '' : ` by ${surface}`
  return `${outcome}${by} at ${new Date(settledAt).toISOString()}${details.length === 0 ? '' : `: ${details.join(', ')}`}`
}
