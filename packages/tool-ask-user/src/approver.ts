/** Who decides whether a call may be made: `ctx.userApprovals` of `@handraise/user-approvals`, or what is like it. */
export interface Approver {
  request(request: ApproverRequest): Promise<ApproverOutcome>
  /**
   * Claims the one effect of what was allowed. False: it was claimed before, as by a run that ended before it could tell.
   * Whatever else is not `true` allows nothing either.
   */
  redeem?(outcome: ApproverOutcome): Promise<boolean>
}

/** Permission for one call. */
export interface ApproverRequest {
  readonly toolName: string
  readonly subject: ApproverSubject
  /** The id the model gave the call: asked again, the call gets what was decided. */
  readonly callId: string
  readonly session?: string | undefined
  readonly agent?: { readonly id: string } | undefined
  readonly signal?: AbortSignal | undefined
}

/** What the call would do. */
export type ApproverSubject =
  | { readonly kind: 'tool'; readonly toolName: string; readonly input: Json }
  | {
      readonly kind: 'shell'
      readonly command: string
      readonly argv?: readonly string[] | undefined
      readonly cwd?: string | undefined
    }
  | {
      readonly kind: 'fileAccess'
      readonly path: string
      readonly access: 'read' | 'write' | 'create' | 'delete' | 'execute'
    }
  | {
      readonly kind: 'network'
      readonly host: string
      readonly port?: number | undefined
      readonly protocol?: string | undefined
    }

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** How an approver ends, as far as it is read here. */
export type ApproverOutcome = { readonly approvalId: string } & Ending

export type Ending = DecidedEnding | UndecidedEnding

interface DecidedEnding {
  readonly outcome: 'decided'
  readonly policyResult: 'allow' | 'deny'
  readonly resolvedBy: 'user' | 'policy'
  /** The rule or the mode, when it was no person. */
  readonly why?: string | undefined
  /** What the person said to it. */
  readonly feedback?: string | undefined
}

/** Nobody decided. It is no denial, and it allows nothing. */
export interface UndecidedEnding {
  readonly outcome:
    | 'declined'
    | 'cancelled'
    | 'clarified'
    | 'interrupted'
    | 'timedOut'
    | 'aborted'
    | 'unavailable'
    | 'pending'
  readonly reason?: string | undefined
  /** What the person wrote back, when clarified. */
  readonly text?: string | undefined
  /** Why it is unavailable. With the code `PROVIDER_GONE` or `STORE_CLOSED` the host went down, and the approval waits still. */
  readonly cause?: unknown
}
