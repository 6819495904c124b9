import { InboxError, isSettled, QUESTIONS, type Decision, type InboxRequest } from '@handraise/inbox'
import { checkValue, isBlank, type Answer, type Issue, type Question } from '@handraise/user-questions/types'
import { FREE_TEXT_LIMIT, WireError, type UserInputAnswer } from '../protocol/index.ts'
import type { CommandCall, Handlers } from './dispatch.ts'
import type { Session } from './session.ts'
import { fromWireAnswers, questionsOf } from './user-input.ts'

/** The longest reason of a cancellation, in UTF-16 units. */
const LONGEST_REASON = 10_000

type UserInputMethod = 'userInput/answer' | 'userInput/cancel' | 'userInput/clarify' | 'userInput/interrupt'

/** The ways in which a client settles a question. The first command wins, whichever client or surface it comes from. */
export const userInputMethods: Pick<Handlers, UserInputMethod> = {
  'userInput/answer': call =>
    settle(call, request => {
      if ('attachments' in call.params)
        throw new WireError('invalidParams', 'attachments: reserved, send none', {})
      const answers = checked(request, questionsOf(request), call.params.answers, false)
      return { outcome: 'answered', answer: { answers } }
    }),
  'userInput/cancel': call =>
    settle(call, () => {
      const { reason } = call.params
      if (reason !== undefined && reason.length > LONGEST_REASON)
        throw new WireError('invalidParams', `reason: is longer than ${LONGEST_REASON} characters`)
      return { outcome: 'cancelled', reason }
    }),
  'userInput/clarify': call =>
    settle(call, request => {
      const { content, format } = call.params.clarification
      if (format !== 'text')
        throw new WireError('invalidParams', 'clarification.format: expected "text", which is what is kept')
      if (isBlank(content) || Array.from(content).length > FREE_TEXT_LIMIT) {
        throw invalid(request, [
          {
            path: 'clarification.content',
            message: isBlank(content) ? 'is blank' : `is longer than ${FREE_TEXT_LIMIT} characters`,
          },
        ])
      }
      return { outcome: 'clarified', text: content }
    }),
  'userInput/interrupt': call =>
    settle(call, request => {
      const answers = checked(request, questionsOf(request), call.params.answers ?? [], true)
      return { outcome: 'interrupted', answer: { answers } }
    }),
}

async function settle(
  call: CommandCall<UserInputMethod>,
  toDecision: (request: InboxRequest) => Decision,
): Promise<void> {
  const { host, commandId } = call
  const { sessionId, userInputId } = call.params
  const { core } = host.deps.inbox
  const { session } = await host.loaded(sessionId)
  await session.command(async () => {
    const request = await core.store.get(userInputId)
    if (request === undefined || request.kind !== QUESTIONS || request.session !== sessionId)
      throw new WireError('userInputNotFound', 'there is no such question in this session', { userInputId })
    // So that whoever lost can be told where in the view it was settled.
    await session.note(request)
    if (isSettled(request) && request.settlement.commandId !== commandId)
      throw alreadySettled(session, request)
    const result = { commandId, status: 'accepted', userInputId }
    try {
      const decision = toDecision(request)
      const command = { commandId, surface: 'wire', records: call.ack(result) }
      const { repeated } = await core.decide(userInputId, decision, command)
      if (repeated) await call.acknowledge(result)
    } catch (error) {
      throw await refusalOf(error, session, request, commandId)
    }
    call.reply(result)
  })
}

async function refusalOf(
  error: unknown,
  session: Session,
  request: InboxRequest,
  commandId: string,
): Promise<unknown> {
  if (!InboxError.isInstance(error)) return error
  switch (error.code) {
    case 'BAD_ANSWER':
      return invalid(
        request,
        error.details.issues.map(issue => onTheWire(request, issue)),
      )
    case 'ALREADY_SETTLED':
      await session.note(error.details.request)
      return alreadySettled(session, error.details.request)
    case 'COMMAND_CONFLICT':
      return new WireError('commandRejected', error.message, { commandId, reason: 'command_id_conflict' })
    default:
      return error
  }
}

// By the member that was sent, and not by the seam's own.
function onTheWire(request: InboxRequest, { path, message }: Issue): Issue {
  const question = questionsOf(request)[Number(/^answers\[(\d+)\]/u.exec(path)?.[1])]
  const member = question?.multiSelect === true ? 'selectedLabels' : 'selectedLabel'
  return { path: path.replace('.selected', `.${member}`).replace('.custom', '.freeText'), message }
}

/** Answers that are of the seam, or the error that names every fault in them. */
function checked(
  request: InboxRequest,
  questions: readonly Question[],
  given: readonly UserInputAnswer[],
  partial: boolean,
) {
  const check = fromWireAnswers(questions, given, partial)
  if (!check.ok) throw invalid(request, check.issues)
  // The inbox checks all of them when they answer; of some it would keep those that hold, and lose the others unsaid.
  const issues = partial ? check.answers.flatMap((answer, index) => faultsOf(questions, answer, index)) : []
  if (issues.length > 0) throw invalid(request, issues)
  return check.answers
}

function faultsOf(questions: readonly Question[], answer: Answer, index: number): readonly Issue[] {
  const question = questions.find(({ id }) => id === answer.id)
  return question === undefined ? [] : checkValue(question, answer, `answers[${index}]`)
}

function invalid(
  request: InboxRequest,
  issues: readonly { readonly path: string; readonly message: string }[],
): WireError {
  const message = issues.map(issue => `${issue.path} ${issue.message}`).join('; ')
  return new WireError('userInputAnswerInvalid', message, {
    userInputId: request.id,
    details: { issues: issues.map(issue => ({ ...issue })) },
  })
}

function alreadySettled(session: Session, request: InboxRequest): WireError {
  const { outcome = 'answered', viewCursor = session.log.cursor } =
    session.state.userInputs.get(request.id)?.settled ?? {}
  const message = `the question was settled before: ${outcome}`
  return new WireError('userInputAlreadySettled', message, {
    userInputId: request.id,
    settlement: { outcome, viewCursor },
  })
}
