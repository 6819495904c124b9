import { UserQuestionError, type Answer, type AskUserQuestionAnswer } from '@handraise/user-questions/types'

/** How the person ended a request. */
export type Ending =
  | { readonly kind: 'answered'; readonly answers: readonly Answer[] }
  | { readonly kind: 'declined' }
  | { readonly kind: 'cancelled'; readonly reason: string; readonly answers: readonly Answer[] }
  | { readonly kind: 'clarified'; readonly text: string }
  | { readonly kind: 'interrupted'; readonly answers: readonly Answer[] }

/** The answer, or the error with which a provider says that there is none. */
export function settle(ending: Ending): AskUserQuestionAnswer | UserQuestionError {
  switch (ending.kind) {
    case 'answered':
      return { answers: ending.answers }
    case 'declined':
      return new UserQuestionError('ASK_DECLINED')
    case 'cancelled':
      return new UserQuestionError('ASK_CANCELLED', { reason: ending.reason, answers: ending.answers })
    case 'clarified':
      return new UserQuestionError('ASK_CLARIFIED', { text: ending.text })
    case 'interrupted':
      return new UserQuestionError('ASK_INTERRUPTED', { answers: ending.answers })
  }
}
