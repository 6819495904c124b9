import type { Issue } from '@handraise/user-questions/types'
import { foldLabel, isOtherLabel, splitRecommended } from '@handraise/user-questions/types'
import { z } from 'zod'
import { previewOf, ruleSchema, type ApprovalRule, type RuleBreadth } from './rule.ts'

/** What a choice means (the coding-agent protocol's words): `approved` and its wider kin allow, the others do not. */
export const APPROVAL_DECISIONS = [
  'approved',
  'approvedForSession',
  'approvedPolicyAmendment',
  'denied',
  'abort',
] as const

export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number]

/** How long a choice lasts: this call, this session, or until the rule is revoked. */
export const APPROVAL_SCOPES = ['once', 'session', 'localPersistent'] as const

export type ApprovalScope = (typeof APPROVAL_SCOPES)[number]

/** A choice a caller offers. The rule of a wider scope is made of the subject; `breadth` makes it wider than that. */
export interface ApprovalChoiceOffer {
  /** Unique within the approval; what an answer names. */
  readonly choiceId: string
  readonly label: string
  readonly decision: ApprovalDecision
  /** Only an allowing choice may last longer than `once`. */
  readonly scope: ApprovalScope
  /** The person may add words, which the model gets. Default false. */
  readonly acceptsFeedback?: boolean | undefined
  readonly breadth?: RuleBreadth | undefined
}

/** A choice as it is offered: with the rule that choosing it adds, and the words in which the person is shown it. */
export interface ApprovalChoice extends Omit<ApprovalChoiceOffer, 'breadth'> {
  readonly rule?: ApprovalRule | undefined
  readonly rulePreview?: string | undefined
}

/** What is offered where the caller names nothing. */
export const DEFAULT_CHOICES: readonly ApprovalChoiceOffer[] = [
  { choiceId: 'allow_once', label: 'Allow once', decision: 'approved', scope: 'once' },
  {
    choiceId: 'allow_session',
    label: 'Allow for this session',
    decision: 'approvedForSession',
    scope: 'session',
  },
  {
    choiceId: 'allow_always',
    label: 'Always allow',
    decision: 'approvedPolicyAmendment',
    scope: 'localPersistent',
  },
  { choiceId: 'deny', label: 'Deny', decision: 'denied', scope: 'once' },
  {
    choiceId: 'deny_feedback',
    label: 'Deny, and say why',
    decision: 'denied',
    scope: 'once',
    acceptsFeedback: true,
  },
]

export const choiceSchema = z
  .strictObject({
    choiceId: z.string().min(1).max(100),
    label: z.string().min(1).max(200),
    decision: z.enum(APPROVAL_DECISIONS),
    scope: z.enum(APPROVAL_SCOPES),
    acceptsFeedback: z.boolean().optional(),
    rule: ruleSchema.optional(),
    rulePreview: z.string().optional(),
  })
  // What a person reads before they allow is the rule itself, word for word, whoever wrote the request.
  .refine(({ rule, rulePreview }) => rulePreview === (rule === undefined ? undefined : previewOf(rule)), {
    path: ['rulePreview'],
    message: 'is not the preview of the rule',
  })
  .refine(({ rule, scope }) => (rule === undefined) === (scope === 'once'), {
    path: ['rule'],
    message: 'belongs to a choice that lasts longer than once, and to no other',
  }) satisfies z.ZodType<ApprovalChoice>

export function allows({ decision }: Pick<ApprovalChoiceOffer, 'decision'>): boolean {
  return decision !== 'denied' && decision !== 'abort'
}

/** What keeps choices from being offered. */
export function checkOffers(
  offers: readonly Pick<
    ApprovalChoiceOffer,
    'choiceId' | 'label' | 'decision' | 'scope' | 'acceptsFeedback'
  >[],
): Issue[] {
  const issues: Issue[] = []
  const ids = new Set<string>()
  const labels = new Set<string>()
  offers.forEach((offer, index) => {
    const fault = (field: string, message: string): void =>
      void issues.push({ path: `choices[${index}].${field}`, message })
    const label = foldLabel(offer.label)
    if (label === '') fault('label', 'must not be blank')
    if (labels.has(label)) fault('label', `${JSON.stringify(offer.label)} reads like another choice`)
    if (ids.has(offer.choiceId)) fault('choiceId', `${JSON.stringify(offer.choiceId)} is there twice`)
    if (!allows(offer) && offer.scope !== 'once') fault('scope', 'a denial lasts once')
    if (allows(offer) && offer.acceptsFeedback === true) fault('acceptsFeedback', 'words go with a denial')
    if (isOtherLabel(offer.label)) fault('label', 'is what every surface calls an answer of one’s own')
    if (splitRecommended(offer.label).recommended) fault('label', 'must not recommend itself')
    labels.add(label)
    ids.add(offer.choiceId)
  })
  // Without one a person could only allow, or leave the question unanswered.
  if (!offers.some(offer => !allows(offer) && offer.acceptsFeedback === true)) {
    const message = 'needs a denial that takes words (acceptsFeedback): every surface has a line to write in'
    issues.push({ path: 'choices', message })
  }
  return issues
}
