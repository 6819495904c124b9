import { UserQuestionError, visibleLine, type Question } from '@handraise/user-questions/types'
import { shortName } from './document.ts'
import type { Line } from './line.ts'
import { WORDING } from './wording.ts'

/**
 * What stays of a request that was settled on another surface, by the reason it was taken down for: by whom, and which
 * questions. Nothing where it was withdrawn in another way.
 */
export function takenDown(reason: unknown, questions: readonly Question[]): Line | undefined {
  const settled = readReason(reason)
  if (settled === undefined) return undefined
  const names = questions.map(question => shortName(question)).filter(name => name !== '')
  return [
    { text: `${settled}: `, role: 'faint' },
    { text: names.join(', '), role: 'plain' },
  ]
}

// An inbox says there how it was settled and where, such as `answered by web`.
function readReason(error: unknown): string | undefined {
  if (!UserQuestionError.isInstance(error) || error.code !== 'ASK_ABORTED') return undefined
  const { reason } = error.details
  const [, outcome = '', surface = ''] = /^(\w+) by (.+)$/su.exec(reason ?? '') ?? []
  if (!isOutcome(outcome)) return undefined
  return WORDING.elsewhere[outcome](visibleLine(surface))
}

function isOutcome(word: string): word is keyof typeof WORDING.elsewhere {
  return Object.hasOwn(WORDING.elsewhere, word)
}
