import { foldLabel, splitRecommended } from './label.ts'
import type { AnswerValue, Question, QuestionOption } from './question.ts'

/** What a typed line means as the reply to one question. */
export type TextReply =
  /** Nothing was typed. */
  | { readonly kind: 'blank' }
  /** A line that starts with `/` speaks to the surface, not to the asker. `name` is lower case. */
  | { readonly kind: 'command'; readonly name: string; readonly rest: string }
  | { readonly kind: 'answer'; readonly value: AnswerValue }

/**
 * Reads a typed line as the reply to a question, the same way wherever people type (seed 004, "Text answers").
 *
 * In this order: a line that is a label, whatever its case, is that label, also without its end punctuation or its
 * `(Recommended)`; a number `N` from 1 is the Nth option; on a multi-select question several numbers or labels, parted by
 * commas or spaces, are those options; anything else is custom text, word for word.
 */
export function readTextReply(question: Question, line: string): TextReply {
  const text = line.trim()
  if (text === '') return { kind: 'blank' }
  const options = question.options ?? []
  const whole = findLabel(options, text)
  if (whole !== undefined) return { kind: 'answer', value: { selected: [whole] } }
  if (text.startsWith('/')) {
    const [, name = '', rest = ''] = /^\/(\S*)\s*([^]*)$/u.exec(text) ?? []
    return { kind: 'command', name: name.toLowerCase(), rest }
  }
  return { kind: 'answer', value: findNumbered(question, options, text) ?? { selected: [], custom: line } }
}

function findNumbered(
  question: Question,
  options: readonly QuestionOption[],
  text: string,
): AnswerValue | undefined {
  const one = optionAt(options, text)
  if (one !== undefined) return { selected: [one] }
  if (question.multiSelect !== true) return undefined
  const named = (part: string): string | undefined => optionAt(options, part) ?? findLabel(options, part)
  const labels =
    every(
      text.split(/[\s,]+/u).filter(part => part !== ''),
      named,
    ) ??
    every(
      text.split(',').map(part => part.trim()),
      named,
    )
  // A line of nothing but commas names no option, and is no skip either.
  if (labels === undefined || labels.length === 0) return undefined
  return { selected: options.flatMap(({ label }) => (labels.includes(label) ? [label] : [])) }
}

function optionAt(options: readonly QuestionOption[], text: string): string | undefined {
  return /^[0-9]{1,6}$/u.test(text) ? options[Number(text) - 1]?.label : undefined
}

function findLabel(options: readonly QuestionOption[], text: string): string | undefined {
  const exact = options.find(option => option.label === text)
  if (exact !== undefined) return exact.label
  const wanted = foldLabel(text)
  const bare = trimEndPunctuation(wanted)
  const readings: ReadonlyArray<(label: string) => boolean> = [
    label => foldLabel(label) === wanted,
    label => trimEndPunctuation(foldLabel(label)) === bare,
    label => trimEndPunctuation(foldLabel(splitRecommended(label).text)) === bare,
  ]
  for (const reads of readings) {
    const matches = options.filter(option => reads(option.label))
    // Two labels that read the same this way are not a sure reading of either.
    if (matches.length === 1) return matches[0]?.label
  }
  return undefined
}

function trimEndPunctuation(text: string): string {
  const trimmed = text.replace(/[\s.!?,;:…。！？，；：]+$/u, '')
  return trimmed === '' ? text : trimmed
}

function every<T, R>(values: readonly T[], map: (value: T) => R | undefined): R[] | undefined {
  const results: R[] = []
  for (const value of values) {
    const result = map(value)
    if (result === undefined) return undefined
    results.push(result)
  }
  return results
}
