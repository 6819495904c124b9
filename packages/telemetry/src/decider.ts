import type { Answer, AnsweredBy, AskOutcome } from '@handraise/user-questions/types'

const BY_PERSON: ReadonlySet<AskOutcome> = new Set(['declined', 'cancelled', 'clarified', 'interrupted'])

/** Who decided, as far as the answers say; nobody where an ask ended by itself. */
export function deciderOf(outcome: AskOutcome, answers: readonly Answer[]): AnsweredBy | undefined {
  const made = new Set(answers.map(({ by }) => by))
  if (outcome === 'timedOut') return made.has('default') ? 'default' : undefined
  if (outcome === 'answered') return made.has('policy') ? 'policy' : 'user'
  return BY_PERSON.has(outcome) ? 'user' : undefined
}

/** The same as far as the answers name it: for what may have been settled by somebody else before. */
export function namedDeciderOf(answers: readonly Answer[]): AnsweredBy | undefined {
  const made = new Set(answers.map(({ by }) => by))
  if (made.has('default')) return 'default'
  return made.has('policy') ? 'policy' : undefined
}
