import {
  askForCall,
  isLeftOpen,
  keepsQuestions,
  namedCall,
  type AdaptedCall,
  type AdapterOptions,
} from '../adapter.ts'
import { askUserTool as neutralTool, type Asker } from '../tool.ts'
import {
  answeredInput,
  describeSkips,
  readQuestionInput,
  toArguments,
  withPreviews,
  type PreviewFormat,
  type QuestionInput,
} from './question-input.ts'

export interface QuestionOptions<Call> extends AdapterOptions<Call> {
  /** The `toolConfig.askUserQuestion.previewFormat` of the query. Default `markdown`, as there. */
  readonly previewFormat?: PreviewFormat | undefined
}

/** What came of a call of `AskUserQuestion`: the input with the answers, or the text for the model. */
export type Asked =
  | { readonly updatedInput: Record<string, unknown> }
  | {
      readonly updatedInput?: undefined
      readonly message: string
      /** The person stopped the turn. */
      readonly stop: boolean
      /** The host went down while the question waited, which waits still. */
      readonly leftOpen: boolean
    }

/** Answers calls of Claude's own `AskUserQuestion`. Rejects with the reason of the signal alone. */
export function questionAsker<Call>(
  asker: Asker,
  { previewFormat = 'markdown', ...options }: QuestionOptions<Call>,
): (raw: unknown, call: AdaptedCall<Call>) => Promise<Asked> {
  // The arguments of the tool hold no previews: they are put back on the way out.
  const inputs = new Map<string | undefined, QuestionInput>()
  const withPreviewsOfCall: Asker = {
    ask(request) {
      const input = inputs.get(request.key)
      if (input === undefined) return asker.ask(request)
      return asker.ask({ ...request, questions: withPreviews(request.questions, input, previewFormat) })
    },
  }
  const neutral = neutralTool(withPreviewsOfCall, options.onRefusedChild)
  return async (raw, given) => {
    const call = { ...given, callId: namedCall(given.callId) }
    const input = readQuestionInput(raw)
    if (input !== undefined) inputs.set(call.callId, input)
    try {
      const args = input === undefined ? raw : toArguments(input)
      const isKept = keepsQuestions(asker)
      const result = await askForCall(neutral, args, call, options)
      if (result.isError) {
        const stop = result.error.code === 'ASK_INTERRUPTED'
        return { message: result.content, stop, leftOpen: isKept && isLeftOpen(result) }
      }
      const updatedInput = input && answeredInput(input, result.value)
      if (updatedInput !== undefined) return { updatedInput }
      // What has no place in the input is told as it is.
      const message = input === undefined ? result.content : describeSkips(input, result.value)
      return { message, stop: false, leftOpen: false }
    } finally {
      // The same call may have come again meanwhile.
      if (inputs.get(call.callId) === input) inputs.delete(call.callId)
    }
  }
}
