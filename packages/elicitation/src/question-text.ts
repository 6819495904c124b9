import { visibleLine, type Question, type QuestionOption } from '@handraise/user-questions/types'
import type { FormOption } from './form.ts'
import { PLAIN_TEXT, type TextStyle } from './text-style.ts'

/** Where the description of an option goes: beside it (ACP), or into its title and the text above it (MCP). */
export type OptionDescriptions = 'native' | 'folded'

/** How long a description may be to stand in the title of its option, in UTF-16 units. */
const LONGEST_IN_TITLE = 100

/** Previews that read well as plain text; another format is not shown. */
const READABLE_FORMATS = new Set(['text', 'markdown'])

/** A question's name, on one line and without a style, for where there is no room for all of it. */
export function titleOf({ header, question }: Question): string {
  return visibleLine(isBlank(header) ? question : header)
}

/** What belongs to a question besides its own words, each part a paragraph: its detail, and what its options mean. */
export function supportingText(
  { detail }: Question,
  offered: readonly QuestionOption[],
  descriptions: OptionDescriptions,
  text: TextStyle = PLAIN_TEXT,
): string[] {
  const parts = paragraphs(text, detail)
  if (descriptions === 'native') return parts
  for (const option of offered) {
    const said = paragraphs(text, isInTitle(option) ? undefined : option.description, previewOf(option))
    if (said.length > 0) parts.push([text.line(`${visibleLine(option.label)}:`), ...said].join('\n'))
  }
  return parts
}

/** The options as a form offers them, in their order; no two have the same title. */
export function toFormOptions(
  offered: readonly QuestionOption[],
  descriptions: OptionDescriptions,
  text: TextStyle = PLAIN_TEXT,
): FormOption[] {
  const taken = new Set<string>()
  return offered.map(option => {
    const { label, description } = option
    const folded = descriptions === 'folded' && description !== undefined && isInTitle(option)
    const said = folded ? `${visibleLine(label)} — ${visibleLine(description)}` : label
    const title = untaken(text.line(said), taken)
    const beside = descriptions === 'native' ? nativeDescription(option, text) : ''
    return { const: label, title, ...(beside === '' ? {} : { description: beside }) }
  })
}

/** The texts that say something, safe to show. */
export function paragraphs(style: TextStyle, ...texts: readonly (string | undefined)[]): string[] {
  return texts.flatMap(text => (isBlank(text) ? [] : [style.block(text)]))
}

export function isBlank(text: string | undefined): text is '' | undefined {
  return text === undefined || text.trim() === ''
}

function nativeDescription(option: QuestionOption, text: TextStyle): string {
  return paragraphs(text, option.description, previewOf(option)).join('\n\n')
}

function previewOf({ preview }: QuestionOption): string | undefined {
  return preview !== undefined && READABLE_FORMATS.has(preview.format) ? preview.content : undefined
}

function isInTitle({ description }: QuestionOption): boolean {
  return !isBlank(description) && description.length <= LONGEST_IN_TITLE && !description.trim().includes('\n')
}

// Labels that differ only in what does not show as itself may read the same.
function untaken(title: string, taken: Set<string>): string {
  let unique = title
  for (let count = 2; taken.has(unique); count += 1) unique = `${title} (${count})`
  taken.add(unique)
  return unique
}
