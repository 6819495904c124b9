import type { ApprovalResolvedParams, Item, UserInputSettledParams } from '../protocol/index.ts'
import type { ApprovalView, UserInputView } from './session-state.ts'
import { completedItem, endingOfQuestion, notAllowed } from './tool-item.ts'
import type { EventDraft } from './view-log.ts'

type Unplaced<Params> = Omit<Params, 'sessionId' | 'viewCursor' | 'sourceRange'>

/**
 * The end of a question that was settled and forgotten before anybody here heard of it: how, and by whom, is not known any more.
 * `item` is the one that is all about it and is in progress, if there is one.
 */
export function forgottenUserInput(
  { requested }: UserInputView,
  item: Item | undefined,
  now: number,
): EventDraft[] {
  const { userInputId, turnId, questions } = requested
  const settled: Unplaced<UserInputSettledParams> = {
    userInputId,
    outcome: 'aborted',
    answers: [],
    clarification: null,
    reason: 'forgotten',
    decidedByCommandId: null,
    decidedAt: null,
  }
  const ended = item === undefined ? [] : [completedItem(item, endingOfQuestion(questions, settled), now)]
  return [
    { method: 'userInput/settled', body: settled, turnId },
    ...ended.map(each => completed(each, turnId)),
  ]
}

/** The same of an approval. What is not known to be allowed is not. */
export function forgottenApproval(
  { opened }: ApprovalView,
  item: Item | undefined,
  now: number,
): EventDraft[] {
  const { approvalId, itemId, turnId } = opened
  const resolved: Unplaced<ApprovalResolvedParams> = {
    approvalId,
    itemId,
    turnId,
    decision: 'aborted',
    policyResult: 'deny',
    resolvedBy: 'policy',
    stageEvidence: [],
  }
  const ended = item === undefined ? [] : [completedItem(item, notAllowed(resolved), now)]
  return [
    { method: 'approval/resolved', body: resolved, turnId },
    ...ended.map(each => completed(each, turnId)),
  ]
}

function completed(item: Item, turnId: string): EventDraft {
  return { method: 'item/completed', body: { item }, turnId }
}
