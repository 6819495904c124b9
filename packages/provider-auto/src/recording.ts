import { appendFile, readFile } from 'node:fs/promises'
import {
  answerSchema,
  canonicalJson,
  checkAnswer,
  describeIssues,
  issuesOfZod,
  questionSchema,
  UserQuestionError,
  type Answer,
  type AskUserQuestionAnswer,
  type Question,
  type UserQuestionProvider,
} from '@handraise/user-questions/types'
import { z } from 'zod'

const recordSchema = z.strictObject({
  questions: z.array(questionSchema),
  answers: z.array(answerSchema).optional(),
  ended: z
    .discriminatedUnion('code', [
      z.strictObject({
        code: z.literal(['ASK_CANCELLED', 'ASK_INTERRUPTED']),
        reason: z.string().optional(),
        answers: z.array(answerSchema).optional(),
      }),
      z.strictObject({ code: z.literal('ASK_DECLINED'), reason: z.string().optional() }),
      z.strictObject({ code: z.literal('ASK_CLARIFIED'), text: z.string() }),
    ])
    .optional(),
})

type Recorded = z.infer<typeof recordSchema>

export interface RecordingOptions {
  /** Told when the file cannot be written; the person's answer goes on all the same. Default: a process warning. */
  readonly onError?: ((error: Error) => void) | undefined
}

/**
 * Passes requests on to `provider` and appends each, with how it ended, to a file of JSON lines: the questions, then the
 * `answers` or how the person `ended` it. What nobody decided (an abort, a failure, an answer that does not hold) is not
 * recorded.
 */
export function recordingProvider(
  provider: UserQuestionProvider,
  file: string,
  { onError = error => process.emitWarning(error) }: RecordingOptions = {},
): UserQuestionProvider {
  // One write at a time, so that requests answered at once do not mix their lines.
  let writing: Promise<void> = Promise.resolve()
  const write = (recorded: Recorded): Promise<void> => {
    writing = writing.then(() => appendFile(file, `${JSON.stringify(recorded)}\n`)).catch(onError)
    return writing
  }
  return {
    name: provider.name === undefined ? 'recording' : `recording ${provider.name}`,
    ...(provider.answersKinds === undefined ? {} : { answersKinds: provider.answersKinds }),
    async ask(request) {
      // A permission that was given once is none for the next time.
      if (request.kind !== undefined) return provider.ask(request)
      const questions = [...request.questions] as Recorded['questions']
      let answer: AskUserQuestionAnswer
      try {
        answer = await provider.ask(request)
      } catch (error) {
        const ended = recordEnding(error)
        if (ended !== undefined && !request.signal.aborted) await write({ questions, ended })
        throw error
      }
      const check = checkAnswer(request.questions, answer)
      if (check.ok && !request.signal.aborted)
        await write({ questions, answers: asRecorded(check.answer.answers) })
      return answer
    },
  }
}

export interface ReplayProvider extends UserQuestionProvider {
  readonly name: 'replay'
  /** How many recorded requests have not been asked for yet. */
  unused(): number
}

/**
 * Answers from a recording: each recorded request once, to the same questions, the earliest first. Other questions end
 * `ASK_UNAVAILABLE`, reason `no-rule`. Throws, naming the line, when the file cannot be read or is no recording.
 */
export async function replayProvider(file: string): Promise<ReplayProvider> {
  const left = readRecording(await readFile(file, 'utf8'), file)
  return {
    name: 'replay',
    unused: () => left.length,
    async ask(request) {
      request.signal.throwIfAborted()
      const index =
        request.kind !== undefined
          ? -1
          : left.findIndex(({ questions }) => sameQuestions(questions, request.questions))
      const [recorded] = index < 0 ? [] : left.splice(index, 1)
      if (recorded === undefined) {
        const advice = `the recording ${file} holds no (further) answer to these questions; record it again`
        throw new UserQuestionError('ASK_UNAVAILABLE', { reason: 'no-rule', advice })
      }
      return replay(recorded)
    },
  }
}

function replay({ answers, ended }: Recorded): AskUserQuestionAnswer {
  if (ended === undefined) {
    return { answers: (answers ?? []).map((answer): Answer => ({ ...answer, by: answer.by ?? 'policy' })) }
  }
  if (ended.code === 'ASK_DECLINED') throw new UserQuestionError(ended.code, { reason: ended.reason })
  if (ended.code === 'ASK_CLARIFIED') throw new UserQuestionError(ended.code, { text: ended.text })
  throw new UserQuestionError(ended.code, { reason: ended.reason, answers: ended.answers })
}

function recordEnding(error: unknown): Recorded['ended'] {
  if (!UserQuestionError.isInstance(error)) return undefined
  if (error.code === 'ASK_DECLINED') return { code: error.code, reason: error.details.reason }
  if (error.code === 'ASK_CLARIFIED') return { code: error.code, text: error.details.text }
  if (error.code !== 'ASK_CANCELLED' && error.code !== 'ASK_INTERRUPTED') return undefined
  const { reason, answers } = error.details
  return { code: error.code, reason, ...(answers === undefined ? {} : { answers: asRecorded(answers) }) }
}

// zod's arrays are mutable, ours are not; nothing here writes to either.
function asRecorded(answers: readonly Answer[]): NonNullable<Recorded['answers']> {
  return answers as NonNullable<Recorded['answers']>
}

function readRecording(text: string, file: string): Recorded[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    const at = `${file}, line ${index + 1}`
    let json: unknown
    try {
      json = JSON.parse(line)
    } catch (error) {
      throw new Error(`${at}: is no JSON; a recording has one JSON object a line`, { cause: error })
    }
    const parsed = recordSchema.safeParse(json)
    if (!parsed.success) throw new Error(`${at}: ${describeIssues(issuesOfZod(parsed.error))}`)
    if ((parsed.data.answers === undefined) === (parsed.data.ended === undefined)) {
      throw new Error(`${at}: needs either answers or ended`)
    }
    return [parsed.data]
  })
}

// Both sides come from JSON or were checked to be JSON-like, so their text tells.
function sameQuestions(recorded: readonly Question[], asked: readonly Question[]): boolean {
  return canonicalJson(recorded) === canonicalJson(asked)
}
