import type { Answer, Question } from '@handraise/user-questions/types'
import type { Form, FormField } from './form.ts'
import { questionFields, type QuestionFields } from './question-fields.ts'
import {
  isBlank,
  paragraphs,
  supportingText,
  titleOf,
  toFormOptions,
  type OptionDescriptions,
} from './question-text.ts'
import { PLAIN_TEXT, type TextStyle } from './text-style.ts'

export interface FormOptions {
  /** `native` where an option may have a description of its own (ACP), `folded` where it may not (MCP). */
  readonly optionDescriptions: OptionDescriptions
  /** Stands before everything else, such as why it is asked again. */
  readonly notice?: string | undefined
  /**
   * What the fields hold when the form opens. Default: each question's own `default`, if it names one. A guarded
   * question and a plan review open empty whatever is given.
   */
  readonly prefill?: readonly Answer[] | undefined
  /** How the message, titles and descriptions are written. Default: as plain text, for clients that read no markup in them. */
  readonly text?: TextStyle | undefined
}

/**
 * The questions as one flat form. Every question that offers options gets a field to choose in and one beside it for an
 * answer in one's own words; neither is required, since either answers it, and `readForm` is the judge. The value of a
 * choice is its label exactly as offered; all other text is neutralised (`visibleText`), and written in the `text` style.
 *
 * A form is no place for secrets: neither protocol allows to ask for passwords, keys or payment data in one.
 */
export function toForm(questions: readonly Question[], options: FormOptions): Form {
  const all = questionFields(questions)
  const properties: Record<string, FormField> = {}
  const required: string[] = []
  for (const fields of all) {
    const prefill = prefillOf(fields.question, options)
    const description = all.length === 1 ? [] : textUnder(fields, options)
    properties[fields.name] = toField(fields, description, prefill, options)
    if (fields.otherName !== undefined) {
      properties[fields.otherName] = toOtherField(fields, prefill, options)
    } else if ((fields.question.minSelections ?? 0) > 0) {
      required.push(fields.name)
    }
  }
  return {
    message: toMessage(all, options),
    requestedSchema: { type: 'object', properties, ...(required.length === 0 ? {} : { required }) },
  }
}

// A single question is the message itself; several are listed there, and each explained at its own field.
function toMessage(
  all: readonly QuestionFields[],
  { notice, optionDescriptions, text = PLAIN_TEXT }: FormOptions,
): string {
  const parts = paragraphs(text, notice)
  const [only] = all
  if (all.length === 1 && only !== undefined) {
    parts.push(
      text.block(only.question.question),
      ...supportingText(only.question, only.offered, optionDescriptions, text),
    )
  } else {
    parts.push(all.map(({ question }, index) => `${index + 1}. ${text.line(question.question)}`).join('\n'))
  }
  return parts.join('\n\n')
}

function textUnder(
  { question, offered }: QuestionFields,
  { optionDescriptions, text = PLAIN_TEXT }: FormOptions,
): string[] {
  // Without a header the question is the title already.
  const asked = isBlank(question.header) ? [] : paragraphs(text, question.question)
  return [...asked, ...supportingText(question, offered, optionDescriptions, text)]
}

function toField(
  { question, offered, own }: QuestionFields,
  under: readonly string[],
  prefill: Prefill,
  { optionDescriptions, text = PLAIN_TEXT }: FormOptions,
): FormField {
  const title = text.line(titleOf(question))
  const { minSelections = 0, maxSelections } = question
  if (offered.length === 0) {
    return {
      type: 'string',
      title,
      ...described([...under, ...paragraphs(text, own?.description)]),
      ...(minSelections > 0 ? { minLength: 1 } : {}),
      ...(isBlank(prefill.custom) ? {} : { default: prefill.custom }),
    }
  }
  const options = toFormOptions(offered, optionDescriptions, text)
  const description = described([...under, howMany(question)].filter(part => part !== ''))
  const selected = prefill.selected.filter(label => offered.some(option => option.label === label))
  if (question.multiSelect !== true) {
    const [chosen] = selected
    const preset = chosen === undefined ? {} : { default: chosen }
    return { type: 'string', title, ...description, oneOf: options, ...preset }
  }
  // One's own words count as one, so a label less may do.
  const minItems = Math.min(minSelections - 1, offered.length)
  return {
    type: 'array',
    title,
    ...description,
    items: { anyOf: options },
    ...(minItems > 0 ? { minItems } : {}),
    ...(maxSelections === undefined ? {} : { maxItems: Math.min(maxSelections, offered.length) }),
    ...(selected.length === 0 ? {} : { default: selected }),
  }
}

function toOtherField(
  { question, own }: QuestionFields,
  { custom }: Prefill,
  { text = PLAIN_TEXT }: FormOptions,
): FormField {
  const adds = question.multiSelect === true
  const how = adds ? 'Added to what is chosen above.' : 'Instead of choosing above.'
  return {
    type: 'string',
    title: text.line(`${titleOf(question)}: ${adds ? 'something else' : 'your own answer'}`),
    ...described([...paragraphs(text, own?.description), how]),
    ...(isBlank(custom) ? {} : { default: custom }),
  }
}

function howMany({ multiSelect, minSelections = 0, maxSelections }: Question): string {
  if (multiSelect !== true) return minSelections > 0 ? 'Choose one, or write your own answer below.' : ''
  const bounds = [
    ...(minSelections > 0 ? [`at least ${minSelections}`] : []),
    ...(maxSelections === undefined ? [] : [`at most ${maxSelections}`]),
  ]
  return bounds.length === 0 ? '' : `Choose ${bounds.join(' and ')}; your own words below count as one.`
}

function described(parts: readonly string[]): { description?: string } {
  return parts.length === 0 ? {} : { description: parts.join('\n\n') }
}

interface Prefill {
  readonly selected: readonly string[]
  readonly custom?: string | undefined
}

// A slip on these costs much: they are answered by an act of the person, never by sending what was there.
function prefillOf(question: Question, { prefill }: FormOptions): Prefill {
  if (question.guarded === true || question.intent !== undefined) return { selected: [] }
  if (prefill === undefined) return question.default ?? { selected: [] }
  return prefill.find(({ id }) => id === question.id) ?? { selected: [] }
}
