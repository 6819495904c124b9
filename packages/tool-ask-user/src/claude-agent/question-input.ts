import type { Answer, AskUserQuestionAnswer, Question } from '@handraise/user-questions/types'
import { z } from 'zod'
import { repairArguments } from '../repair-arguments.ts'

/** The tool with which Claude asks by itself. */
export const QUESTION_TOOL = 'AskUserQuestion'

/** The input of Claude's own `AskUserQuestion`, as far as it is read here. Its questions have no ids but their texts. */
const questionInputSchema = z.looseObject({
  questions: z
    .array(
      z.looseObject({
        question: z.string(),
        header: z.string().optional(),
        multiSelect: z.boolean().optional(),
        options: z
          .array(
            z.looseObject({
              label: z.string(),
              description: z.string().optional(),
              // The tool has none, and asks whatever stands in its place.
              preview: z.string().optional().catch(undefined),
            }),
          )
          .optional(),
      }),
    )
    .min(1),
})

export type QuestionInput = z.infer<typeof questionInputSchema>

/**
 * Reads what a model sent, where it is read as it is or has one sure reading: JSON in a text, options as plain texts and the
 * like. `undefined` where it has none, which the tool then tells.
 */
export function readQuestionInput(raw: unknown): QuestionInput | undefined {
  return questionInputSchema.safeParse(raw).data ?? questionInputSchema.safeParse(mended(raw)).data
}

function mended(raw: unknown): unknown {
  const repaired = z.looseObject({ questions: z.array(z.looseObject({})) }).safeParse(repairArguments(raw))
  if (!repaired.success) return undefined
  const questions = repaired.data.questions.map(({ id: _, multi_select: multiSelect, ...question }) => ({
    ...question,
    ...(multiSelect === undefined ? {} : { multiSelect }),
  }))
  return { ...repaired.data, questions }
}

/** How previews are written, as `toolConfig.askUserQuestion.previewFormat` of the SDK says. */
export type PreviewFormat = 'markdown' | 'html'

/** As the arguments of `ask_user_question`. */
export function toArguments({ questions }: QuestionInput): unknown {
  return {
    questions: questions.map(({ question, header, multiSelect, options }, index) => ({
      id: idOf(index),
      question,
      ...(header === undefined ? {} : { header }),
      ...(multiSelect === undefined ? {} : { multi_select: multiSelect }),
      ...(options === undefined
        ? {}
        : { options: options.map(({ label, description }) => ({ label, description })) }),
    })),
  }
}

/** Puts back what no argument of the tool holds: the previews of the options. */
export function withPreviews(
  asked: readonly Question[],
  { questions }: QuestionInput,
  format: PreviewFormat,
): Question[] {
  return asked.map((question, at) => {
    const options = question.options?.map(option => {
      const content = questions[at]?.options?.find(({ label }) => label === option.label)?.preview
      return content === undefined ? option : { ...option, preview: { format, content } }
    })
    return options === undefined ? question : { ...question, options }
  })
}

/**
 * The input with the answers in it, as the SDK documents it: by the text of the question, several labels parted by commas, a
 * text of the person's own in place of a label or after them, what they wrote beside it as notes. What the CLI would not
 * tell the model is written out: that one question of several was skipped, and that an answer was not given by a person.
 * `undefined` where every question was skipped, of which some versions of the CLI say that they were answered.
 */
export function answeredInput(
  input: QuestionInput,
  { answers }: AskUserQuestionAnswer,
): Record<string, unknown> | undefined {
  if (answers.every(isSkip)) return undefined
  const byId = new Map(answers.map(answer => [answer.id, answer]))
  const answered = input.questions.flatMap((asked, index) => {
    const answer = byId.get(idOf(index))
    return answer === undefined ? [] : [{ asked, answer }]
  })
  const annotations = answered.flatMap(({ asked, answer }) => {
    const annotation = annotate(asked, answer)
    return annotation === undefined ? [] : [[asked.question, annotation] as const]
  })
  return {
    ...input,
    answers: Object.fromEntries(answered.map(({ asked, answer }) => [asked.question, inWords(answer)])),
    ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
  }
}

/** What the model is told where every question was skipped, with what the person wrote beside them. */
export function describeSkips({ questions }: QuestionInput, { answers }: AskUserQuestionAnswer): string {
  const notes = answers.flatMap(({ id, note }) => {
    if (note === undefined) return []
    const asked = questions.find((_, index) => idOf(index) === id)?.question ?? id
    return [
      questions.length === 1 ? JSON.stringify(note) : `to ${JSON.stringify(asked)}: ${JSON.stringify(note)}`,
    ]
  })
  const wrote = notes.length === 0 ? '' : `. They wrote ${notes.join(', ')}`
  return `the user skipped every question; nothing was chosen${wrote}`
}

function inWords(answer: Answer): string {
  if (isSkip(answer)) return '(the user skipped this question; nothing was chosen)'
  const { selected, custom } = answer
  return [...selected, ...(custom === undefined ? [] : [custom])].join(', ')
}

const NOT_BY_A_PERSON = {
  policy: 'This was answered by a policy, not by the user.',
  default: 'Nobody answered in time; this is the default.',
}

function annotate({ options = [] }: QuestionInput['questions'][number], answer: Answer): object | undefined {
  const { selected, note, by = 'user' } = answer
  const preview =
    selected.length === 1 ? options.find(({ label }) => label === selected[0])?.preview : undefined
  const notes = [...(note === undefined ? [] : [note]), ...(by === 'user' ? [] : [NOT_BY_A_PERSON[by]])]
  if (preview === undefined && notes.length === 0) return undefined
  return {
    ...(preview === undefined ? {} : { preview }),
    ...(notes.length === 0 ? {} : { notes: notes.join('\n') }),
  }
}

function isSkip({ selected, custom }: Answer): boolean {
  return selected.length === 0 && custom === undefined
}

function idOf(index: number): string {
  return `q${index + 1}`
}
