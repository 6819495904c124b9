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
  const [first] = labels
  switch (policy) {
    case 'refuse':
      return undefined
    case 'first':
      return first === undefined ? undefined : { selected: [first] }
    case 'recommended': {
      const chosen = labels.filter(label => splitRecommended(label).recommended)
      // Of two recommendations for one choice neither is the asker's.
      const sure = chosen.length === 1 || (chosen.length > 1 && question.multiSelect === true)
      return sure ? { selected: chosen } : undefined
    }
  }
}
