import type {
  ApprovalRequestParams,
  ApprovalResolvedParams,
  ApprovalUpdatedParams,
  SourceRange,
  UserInputRequestParams,
  UserInputSettledParams,
} from '../src/protocol/index.ts'

export const SESSION = '0198f0aa-1111-7000-8000-0000000000aa'

/** The cursor of the nth event. */
export function cursor(n: number): string {
  return `v:${SESSION}:${n}`
}

function sourceRange(n: number): SourceRange {
  const position = { id: `record-${n}`, sequence: n }
  return { stream: { kind: 'session', id: SESSION }, first: position, last: position }
}

const at = (n: number) => ({ sessionId: SESSION, viewCursor: cursor(n), sourceRange: sourceRange(n) })

/** An approval of a shell command with several stages, which stands at one of them. */
export function approval(approvalId: string, n = 1, stage = 0): ApprovalRequestParams {
  return {
    ...at(n),
    approvalId,
    turnId: 'turn-1',
    taskId: 'task-1',
    itemId: `item-${approvalId}`,
    toolCallId: `call-${approvalId}`,
    toolName: 'shell',
    rawArgs: '{"command":"make"}',
    subject: { kind: 'shell', command: 'make' },
    currentRequirementId: { approvalId, sourceIndex: stage },
    availableChoices: [
      { choiceId: 'allow_once', label: 'Allow once', decision: 'approved', scope: 'once' },
      { choiceId: 'abort', label: 'Reject', decision: 'abort', scope: 'once', acceptsFeedback: true },
    ],
    protectedWrite: false,
    judgeEscalated: false,
  }
}

export function approvalUpdated(approvalId: string, n: number, stage: number): ApprovalUpdatedParams {
  const { subject, availableChoices, currentRequirementId } = approval(approvalId, n, stage)
  const change = { kind: 'stageResolved', decision: 'approved' }
  return { ...at(n), approvalId, subject, availableChoices, currentRequirementId, change }
}

export function approvalResolved(
  approvalId: string,
  n: number,
  decision = 'approved',
): ApprovalResolvedParams {
  return {
    ...at(n),
    approvalId,
    itemId: `item-${approvalId}`,
    turnId: 'turn-1',
    decision,
    policyResult: decision === 'approved' ? 'allow' : 'deny',
    resolvedBy: 'user',
    stageEvidence: [],
  }
}

/** As the event has it; the request has no `sourceRange`. */
export function userInput(userInputId: string, n = 1): UserInputRequestParams {
  return {
    ...at(n),
    userInputId,
    turnId: 'turn-1',
    itemId: `item-${userInputId}`,
    toolCallId: `call-${userInputId}`,
    toolName: 'request_user_input',
    questions: [
      {
        id: 'db',
        header: 'Database',
        question: 'Which one?',
        selection: { mode: 'single' },
        options: [{ label: 'Postgres' }, { label: 'SQLite' }],
      },
    ],
  }
}

export function userInputSettled(
  userInputId: string,
  n: number,
  outcome = 'answered',
): UserInputSettledParams {
  return {
    ...at(n),
    userInputId,
    outcome,
    answers: [],
    clarification: null,
    reason: null,
    decidedByCommandId: null,
    decidedAt: '2026-08-07T18:23:20.100Z',
  }
}
