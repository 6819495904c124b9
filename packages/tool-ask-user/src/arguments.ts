import { checkQuestions, type Question } from '@handraise/user-questions/types'
import { parseArguments, type ParsedArguments } from '@handraise/tools'
import { z } from 'zod'
import { repairArguments } from './repair-arguments.ts'

/** What is accepted at the most. The model is told of fewer (`ADVISED`), since people read short lists better. */
export const ALLOWED = { questions: 16, options: 32 } as const
export const ADVISED = { questions: 4, options: 4 } as const

/** The arguments the model is shown, as in seed 002, section 8: neither `detail` nor `intent` is the model's to set. */
export const argumentsSchema = z.object({
  questions: z.array(
    z.object({
      id: z.string(),
      question: z.string(),
      header: z.string().describe('At most 12 characters').optional(),
      options: z.array(z.object({ label: z.string(), description: z.string().optional() })).optional(),
      multi_select: z.boolean().optional(),
    }),
  ),
})

export type AskUserArguments = z.infer<typeof argumentsSchema>

const EXAMPLE = JSON.stringify({
  questions: [
    {
      id: 'db',
      question: 'Which database?',
      options: [{ label: 'SQLite (Recommended)' }, { label: 'Postgres' }],
    },
  ],
})

/** Reads what a model sent: what has one sure reading is accepted, of the rest every fault is named by its path. */
export function parseAskUserArguments(raw: unknown): ParsedArguments<AskUserArguments> {
  const repaired = repairArguments(raw)
  const parsed = parseArguments(argumentsSchema, repaired)
  const faults = parsed.ok ? [] : [...parsed.faults]
  const known = new Set(faults.map(fault => fault.slice(0, fault.indexOf(':'))))
  for (const { path, message } of questionFaults(repaired)) {
    // A fault of an option says enough about what is in it.
    if (!known.has(path) && !known.has(path.replace(/\.label$/u, ''))) faults.push(`${path}: ${message}`)
  }
  if (parsed.ok && faults.length === 0) return parsed
  return { ok: false, faults: [...bounded(faults), `send for example ${EXAMPLE}`] }
}

// A model need not read more to mend what it sent.
const MOST_FAULTS = 20
const MOST_CHARACTERS = 300

function bounded(faults: readonly string[]): string[] {
  const told = faults
    .slice(0, MOST_FAULTS)
    .map(fault => (fault.length <= MOST_CHARACTERS ? fault : `${fault.slice(0, MOST_CHARACTERS)}…`))
  return faults.length > told.length ? [...told, `and ${faults.length - told.length} more`] : told
}

export function toQuestions({ questions }: AskUserArguments): Question[] {
  return questions.map(({ multi_select, ...question }) => ({
    ...question,
    ...(multi_select === undefined ? {} : { multiSelect: multi_select }),
  }))
}

function questionFaults(repaired: unknown): Array<{ path: string; message: string }> {
  const questions = (repaired as { questions?: unknown } | null | undefined)?.questions
  if (!Array.isArray(questions)) return []
  const faults = checkQuestions(questions.map(onlyModelFields))
  if (questions.length > ALLOWED.questions) {
    faults.push({ path: 'questions', message: tooMany(questions.length, 'questions') })
  }
  questions.forEach((question: { options?: unknown } | null, index) => {
    const options = question?.options
    if (!Array.isArray(options) || options.length <= ALLOWED.options) return
    faults.push({ path: `questions[${index}].options`, message: tooMany(options.length, 'options') })
  })
  return faults
}

// The seam knows more fields than the model may set: what it sends in those is ignored, not checked.
function onlyModelFields(sent: unknown): Question {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return sent as never
  const { id, question, options } = sent as Question
  return { id, question, options }
}

function tooMany(count: number, what: keyof typeof ALLOWED): string {
  return `${count} ${what} are more than the ${ALLOWED[what]} allowed; send at most ${ADVISED[what]}`
}
