import { z } from 'zod'
import {
  sessionApprovalModeChangedParamsSchema,
  sessionSetApprovalModeParamsSchema,
  sessionSetApprovalModeResultSchema,
} from './approval-mode.ts'
import {
  approvalDecideParamsSchema,
  approvalDecideResultSchema,
  approvalRequestParamsSchema,
  approvalResolvedParamsSchema,
  approvalUpdatedParamsSchema,
} from './approval.ts'
import { requestReceiptSchema } from './frames.ts'
import { initializeParamsSchema, initializeResultSchema } from './handshake.ts'
import {
  itemCompletedParamsSchema,
  itemDeltaParamsSchema,
  itemStartedParamsSchema,
  itemUpdatedParamsSchema,
} from './item.ts'
import { approvalListPendingParamsSchema, approvalListPendingResultSchema } from './pending.ts'
import {
  sessionReadParamsSchema,
  sessionReadResultSchema,
  sessionResumeParamsSchema,
  sessionResumeResultSchema,
} from './session-history.ts'
import {
  sessionClosedParamsSchema,
  sessionStartedParamsSchema,
  sessionStartParamsSchema,
  sessionStartResultSchema,
  sessionStatusChangedParamsSchema,
} from './session.ts'
import type { Shape } from './shape.ts'
import {
  turnCancelParamsSchema,
  turnCancelResultSchema,
  turnCompletedParamsSchema,
  turnInterruptParamsSchema,
  turnInterruptResultSchema,
  turnStartedParamsSchema,
  turnStartParamsSchema,
  turnStartResultSchema,
} from './turn.ts'
import {
  userInputAnswerParamsSchema,
  userInputAnswerResultSchema,
  userInputCancelParamsSchema,
  userInputCancelResultSchema,
  userInputClarifyParamsSchema,
  userInputClarifyResultSchema,
  userInputEngagedParamsSchema,
  userInputInterruptParamsSchema,
  userInputInterruptResultSchema,
} from './user-input-commands.ts'
import { userInputRequestParamsSchema, userInputSettledParamsSchema } from './user-input.ts'
import {
  viewGapParamsSchema,
  viewPageParamsSchema,
  viewPageResultSchema,
  viewSubscribeParamsSchema,
  viewSubscribeResultSchema,
  viewUnsubscribeParamsSchema,
  viewUnsubscribeResultSchema,
} from './view.ts'

/** What a client may ask of a host. A command changes something and carries the `commandId` under which it is done once. */
export const METHODS = {
  initialize: { params: initializeParamsSchema, result: initializeResultSchema, command: false },
  'session/start': { params: sessionStartParamsSchema, result: sessionStartResultSchema, command: true },
  'session/resume': { params: sessionResumeParamsSchema, result: sessionResumeResultSchema, command: true },
  'session/read': { params: sessionReadParamsSchema, result: sessionReadResultSchema, command: false },
  'session/setApprovalMode': {
    params: sessionSetApprovalModeParamsSchema,
    result: sessionSetApprovalModeResultSchema,
    command: true,
  },
  'turn/start': { params: turnStartParamsSchema, result: turnStartResultSchema, command: true },
  'turn/cancel': { params: turnCancelParamsSchema, result: turnCancelResultSchema, command: true },
  'turn/interrupt': { params: turnInterruptParamsSchema, result: turnInterruptResultSchema, command: true },
  'approval/decide': {
    params: approvalDecideParamsSchema,
    result: approvalDecideResultSchema,
    command: true,
  },
  'approval/listPending': {
    params: approvalListPendingParamsSchema,
    result: approvalListPendingResultSchema,
    command: false,
  },
  'userInput/answer': {
    params: userInputAnswerParamsSchema,
    result: userInputAnswerResultSchema,
    command: true,
  },
  'userInput/cancel': {
    params: userInputCancelParamsSchema,
    result: userInputCancelResultSchema,
    command: true,
  },
  'userInput/clarify': {
    params: userInputClarifyParamsSchema,
    result: userInputClarifyResultSchema,
    command: true,
  },
  'userInput/interrupt': {
    params: userInputInterruptParamsSchema,
    result: userInputInterruptResultSchema,
    command: true,
  },
  'view/page': { params: viewPageParamsSchema, result: viewPageResultSchema, command: false },
  'view/subscribe': { params: viewSubscribeParamsSchema, result: viewSubscribeResultSchema, command: false },
  'view/unsubscribe': {
    params: viewUnsubscribeParamsSchema,
    result: viewUnsubscribeResultSchema,
    command: false,
  },
} as const

/** What a client tells a host without being answered. */
export const CLIENT_NOTIFICATIONS = {
  /** Ends the handshake; has no params. */
  initialized: z.looseObject({}),
  'userInput/engaged': userInputEngagedParamsSchema,
} as const

/** What a host tells its clients. */
export const NOTIFICATIONS = {
  'session/started': sessionStartedParamsSchema,
  'session/statusChanged': sessionStatusChangedParamsSchema,
  'session/approvalModeChanged': sessionApprovalModeChangedParamsSchema,
  'session/closed': sessionClosedParamsSchema,
  'turn/started': turnStartedParamsSchema,
  'turn/completed': turnCompletedParamsSchema,
  'item/started': itemStartedParamsSchema,
  'item/delta': itemDeltaParamsSchema,
  'item/updated': itemUpdatedParamsSchema,
  'item/completed': itemCompletedParamsSchema,
  'approval/requested': approvalRequestParamsSchema,
  'approval/updated': approvalUpdatedParamsSchema,
  'approval/resolved': approvalResolvedParamsSchema,
  'userInput/requested': userInputRequestParamsSchema,
  'userInput/settled': userInputSettledParamsSchema,
  'view/gap': viewGapParamsSchema,
} as const

/** What a host asks of its clients: to show a prompt. What the person decides comes as a command. */
export const SERVER_REQUESTS = {
  'approval/request': { params: approvalRequestParamsSchema, result: requestReceiptSchema },
  'userInput/request': { params: userInputRequestParamsSchema, result: requestReceiptSchema },
} as const

/** Notifications that are never dropped, and that no client can opt out of. */
export const PROTECTED = [
  'approval/resolved',
  'userInput/settled',
  'view/gap',
] as const satisfies readonly NotificationMethod[]

export type Method = keyof typeof METHODS
export type ParamsOf<M extends Method> = Shape<(typeof METHODS)[M]['params']>
export type ResultOf<M extends Method> = Shape<(typeof METHODS)[M]['result']>

/** The methods that change something. */
export type CommandMethod = { [M in Method]: (typeof METHODS)[M]['command'] extends true ? M : never }[Method]

export type NotificationMethod = keyof typeof NOTIFICATIONS
export type NotificationParams<M extends NotificationMethod> = Shape<(typeof NOTIFICATIONS)[M]>

export type ClientNotificationMethod = keyof typeof CLIENT_NOTIFICATIONS
export type ClientNotificationParams<M extends ClientNotificationMethod> = Shape<
  (typeof CLIENT_NOTIFICATIONS)[M]
>

export type ServerRequestMethod = keyof typeof SERVER_REQUESTS
export type ServerRequestParams<M extends ServerRequestMethod> = Shape<(typeof SERVER_REQUESTS)[M]['params']>
