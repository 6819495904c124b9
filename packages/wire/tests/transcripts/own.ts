import { APPROVAL_SCENARIOS } from './own-approvals.ts'
import { ERROR_SCENARIOS } from './own-errors.ts'
import { QUESTION_SCENARIOS } from './own-questions.ts'
import { SESSION_SCENARIOS } from './own-sessions.ts'
import { TURN_SCENARIOS } from './own-turns.ts'
import { VIEW_SCENARIOS } from './own-views.ts'
import type { OwnScenario } from './recorder.ts'

/** All of this host's own transcripts. */
export const OWN_SCENARIOS: readonly OwnScenario[] = [
  ...QUESTION_SCENARIOS,
  ...APPROVAL_SCENARIOS,
  ...SESSION_SCENARIOS,
  ...TURN_SCENARIOS,
  ...VIEW_SCENARIOS,
  ...ERROR_SCENARIOS,
]
