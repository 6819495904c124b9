import { splitRecommended, type AnswerValue, type Question } from '@handraise/user-questions/types'

/**
 * What answers the questions no rule covers: `refuse`, nobody; `recommended`, the options whose label ends with
 * `(Recommended)`, if there are any; `first`, the first option.
 */
export type AutoPolicy = 'refuse' | 'recommended' | 'first'

export const AUTO_POLICIES: readonly AutoPolicy[] = ['refuse', 'recommended', 'first']

/** The policy's answer, if it has one. A guarded question is for a person or a rule that names it, never for a policy. */
export function answerByPolicy(policy: AutoPolicy, question: Question): AnswerValue | undefined {
  if (question.guarded === true) return undefined
  const labels = (question.options ?? []).map(({ label }) => label)
  const chosen =
    policy === 'first'
      ? labels
      : policy === 'recommended'
        ? labels.filter(label => splitRecommended(label).recommended)
        : []
  const count = policy === 'recommended' && question.multiSelect === true ? chosen.length : 1
  return chosen.length === 0 ? undefined : { selected: chosen.slice(0, count) }
}
