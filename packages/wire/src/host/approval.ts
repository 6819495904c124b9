import type { InboxRequest, InboxSettlement, SettledRequest } from '@handraise/inbox'
import {
  allows,
  checkApprovalAnswer,
  isPlain,
  nameOf,
  readPayload,
  readShell,
  type ApprovalChoice as OfferedChoice,
  type ApprovalPayload,
  type ApprovalSubject as Subject,
  type DecidedApproval,
  type RequirementDecision,
} from '@handraise/user-approvals'
import type {
  ApprovalChange,
  ApprovalChoice,
  ApprovalRequestParams,
  ApprovalRequirementRef,
  ApprovalResolvedParams,
  ApprovalStage,
  ApprovalStageEvidence,
  ApprovalSubject,
} from '../protocol/index.ts'
import type { CallPlace } from './call-place.ts'

type Unplaced<Params> = Omit<Params, 'sessionId' | 'viewCursor' | 'sourceRange'>

/** One requirement of an approval, as the inbox holds it, with the approval's id on the wire. */
export interface Requirement {
  readonly request: InboxRequest
  readonly payload: ApprovalPayload
  readonly approvalId: string
  readonly ref: ApprovalRequirementRef
}

/**
 * Reads a request of the kind `approval`. The requirements of an approval of several stages are one approval on the wire
 * when its call is run in this session (`joined`); otherwise nobody here hears what becomes of the whole, and each is an
 * approval of its own.
 */
export function readRequirement(request: InboxRequest, joined: boolean): Requirement | undefined {
  const payload = readPayload(request.payload)
  if (payload === undefined) return undefined
  const whole = joined || payload.requirement.total === 1
  const approvalId = whole ? payload.approvalId : request.id
  const ref = { approvalId, sourceIndex: payload.requirement.index }
  return { request, payload, approvalId, ref }
}

/** An approval as it is opened on the wire. */
export function toApprovalRequested(
  { request, payload, approvalId, ref }: Requirement,
  place: CallPlace,
): Unplaced<ApprovalRequestParams> {
  return {
    approvalId,
    turnId: place.turnId,
    taskId: request.id,
    itemId: place.itemId,
    toolCallId: place.callId,
    toolName: payload.toolName,
    rawArgs: place.args,
    subject: toWireSubject(payload, approvalId),
    currentRequirementId: ref,
    availableChoices: payload.choices.map(toWireChoice),
    protectedWrite: payload.protected === true,
    judgeEscalated: false,
    // A member of ours: the protocol has none for what the agent says of it.
    ...(payload.reason === undefined ? {} : { reason: payload.reason }),
    ...(payload.child === undefined
      ? {}
      : {
          subagentOrigin: {
            subagentId: payload.child,
            childRunId: payload.child,
            childSessionId: request.session,
          },
        }),
  }
}

/** What changes on the wire when the next stage is asked about. */
export function toApprovalUpdate({ payload, approvalId, ref }: Requirement, change: ApprovalChange) {
  return {
    approvalId,
    currentRequirementId: ref,
    subject: toWireSubject(payload, approvalId),
    availableChoices: payload.choices.map(toWireChoice),
    change,
  }
}

function toWireChoice(choice: OfferedChoice): ApprovalChoice {
  const { choiceId, label, decision, scope, acceptsFeedback, rulePreview } = choice
  return {
    choiceId,
    label,
    decision,
    scope,
    ...(acceptsFeedback === undefined ? {} : { acceptsFeedback }),
    ...(rulePreview === undefined ? {} : { rulePreview }),
  }
}

/**
 * The subject in the protocol's members. A command is written out with its directory and its environment, and as its exact
 * text, so that no two subjects are shown alike. What the members have no place for stands in `target`: what a path or a host
 * comes to where that is not what it says, its exact text where it does not show as itself, the input of a tool.
 */
function toWireSubject(payload: ApprovalPayload, approvalId: string): ApprovalSubject {
  const { toolName, subject, requirement, resolved = [] } = payload
  const named = { kind: subject.kind, toolName }
  const targetOf = (...seen: readonly string[]): { target?: string } => {
    const all = [...seen, ...resolved]
    return all.length === 0 ? {} : { target: all.join('; ') }
  }
  switch (subject.kind) {
    case 'shell':
      return {
        ...named,
        command: nameOf(subject),
        ...targetOf(),
        ...(requirement.total === 1 ? {} : { stages: stagesOf(subject, approvalId, requirement) }),
      }
    case 'fileAccess': {
      const { path, access, workspaceRoot, target } = subject
      const exact = isPlain(path) ? [] : [nameOf(subject)]
      return {
        ...named,
        path,
        access,
        ...(workspaceRoot === undefined ? {} : { workspaceRoot }),
        ...targetOf(...(target === undefined ? [] : [target]), ...exact),
      }
    }
    case 'network': {
      const { host, port, protocol } = subject
      return {
        ...named,
        host,
        ...(port === undefined ? {} : { port }),
        ...(protocol === undefined ? {} : { protocol }),
        ...targetOf(...(isPlain(host) ? [] : [nameOf(subject)])),
      }
    }
    case 'tool':
      return { ...named, toolName: subject.toolName, ...targetOf(nameOf(subject)) }
  }
}

function stagesOf(
  subject: Subject,
  approvalId: string,
  { index, total }: ApprovalPayload['requirement'],
): ApprovalStage[] {
  if (subject.kind !== 'shell') return []
  return readShell(subject.command).map(({ argv, argvComplete }, position) => ({
    argv: [...argv],
    argvComplete,
    position,
    requirementId: { approvalId, sourceIndex: position },
    // One that comes before the one that is asked about was allowed, by a person or by a rule.
    resolution: { kind: position < index ? 'allowed' : 'required' },
    totalStages: total,
  }))
}

/** How a settled requirement was decided; nothing but an offered choice says anything. */
export function choiceOf({ request, payload }: Requirement): OfferedChoice | undefined {
  if (request.settlement?.outcome !== 'answered') return undefined
  const check = checkApprovalAnswer(payload, request.settlement.answer)
  return check.ok ? check.choice : undefined
}

/** True when the approval ends with this requirement: it was not allowed, or is the last one. */
export function endsApproval(requirement: Requirement): boolean {
  const { payload, approvalId } = requirement
  const choice = choiceOf(requirement)
  if (choice === undefined || !allows(choice)) return true
  return approvalId !== payload.approvalId || payload.requirement.index + 1 === payload.requirement.total
}

/** The end of an approval, as a settled requirement brings it about. */
export function toApprovalResolved(
  requirement: Requirement,
  { itemId, turnId }: Pick<ApprovalRequestParams, 'itemId' | 'turnId'>,
): Unplaced<ApprovalResolvedParams> {
  const { approvalId } = requirement
  const { settlement } = requirement.request as SettledRequest
  const choice = choiceOf(requirement)
  const { rulePreview, scope } = choice ?? {}
  return {
    approvalId,
    itemId,
    turnId,
    // That nobody decided is no denial, and the set of decisions is open: it is told by its own word.
    decision: choice?.decision ?? settlement.outcome,
    policyResult: choice !== undefined && allows(choice) ? 'allow' : 'deny',
    resolvedBy: settlement.by === 'user' ? 'user' : 'policy',
    stageEvidence: [],
    ...(rulePreview === undefined || scope === undefined || scope === 'once'
      ? {}
      : { amendment: { durability: scope, rulePreview } }),
    ...whoDecided(settlement),
  }
}

/** The end of an approval of several stages, of which some may have been decided by rules. */
export function toApprovalEnded(
  { approvalId, itemId, turnId, subject }: ApprovalRequestParams,
  outcome: DecidedApproval,
  last: InboxSettlement | undefined,
): Unplaced<ApprovalResolvedParams> {
  const { decision, policyResult, resolvedBy, amendment, requirements } = outcome
  return {
    approvalId,
    itemId,
    turnId,
    decision,
    policyResult,
    resolvedBy,
    stageEvidence: evidenceOf(approvalId, subject.stages ?? [], requirements),
    ...(amendment === undefined ? {} : { amendment }),
    ...(last === undefined ? {} : whoDecided(last)),
  }
}

function whoDecided({ surface, commandId, settledAt }: InboxSettlement) {
  return {
    // Nobody commanded what the host settles by itself.
    ...(surface === undefined ? {} : { decidedByCommandId: commandId }),
    decidedAt: new Date(settledAt).toISOString(),
  }
}

function evidenceOf(
  approvalId: string,
  stages: readonly ApprovalStage[],
  decisions: readonly Pick<RequirementDecision, 'index' | 'decision'>[],
): ApprovalStageEvidence[] {
  return stages.flatMap(({ argv, position, totalStages }) => {
    const decided = decisions.find(({ index }) => index === position)
    if (decided === undefined) return []
    const requirementId = { approvalId, sourceIndex: position }
    return [{ argv, position, requirementId, resolution: { kind: decided.decision }, totalStages }]
  })
}
