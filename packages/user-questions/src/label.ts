import type { Question, QuestionOption } from './question.ts'

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/**
 * What two labels have in common when a person could not tell them apart in what they type:
 * canonical composition, characters that show nothing, surrounding space and case are ignored.
 */
export function foldLabel(label: string): string {
  return label.normalize('NFC').replace(INVISIBLE, '').trim().toLowerCase()
}

const RECOMMENDED = /\s*(?:\(recommended\)|（推荐）)\s*$/iu

/**
 * The label as a surface shows it beside a badge, and whether it carries the suffix `(Recommended)` or `（推荐）`.
 * The label that is answered keeps the suffix.
 */
export function splitRecommended(label: string): { readonly text: string; readonly recommended: boolean } {
  const text = label.replace(RECOMMENDED, '')
  // A label that is nothing but the suffix stays as it is: a badge needs something to stand beside.
  if (text === label || text.trim() === '') return { text: label, recommended: false }
  return { text, recommended: true }
}

/**
 * The options of a question as a surface lists them, and the one among them that a bare `Other` makes the same as the
 * free-text row every surface adds. An `Other` that approves a plan stays a choice: as free text it could not be given.
 */
export function splitOwnAnswer({ options = [], intent }: Pick<Question, 'options' | 'intent'>): {
  readonly offered: readonly QuestionOption[]
  readonly own?: QuestionOption | undefined
} {
  const own = options.find(({ label }) => isOtherLabel(label) && label !== intent?.approve)
  return own === undefined ? { offered: options } : { offered: options.filter(option => option !== own), own }
}

/** True of the bare label `Other`, which means the same as the free-text row every surface adds, so the two are shown as one. */
export function isOtherLabel(label: string): boolean {
  return foldLabel(label) === 'other'
}
