import type { AssistantContent, ModelMessage, ToolCallPart, ToolContent, ToolResultPart } from 'ai'

type MessagePart = Exclude<AssistantContent, string>[number] | ToolContent[number]

/** The parts of one type, of what the model said and what it was told of its calls, in order. */
export function partsOfType<Type extends MessagePart['type']>(
  messages: readonly ModelMessage[],
  type: Type,
): Array<Extract<MessagePart, { type: Type }>> {
  const isOfType = (part: MessagePart): part is Extract<MessagePart, { type: Type }> => part.type === type
  return messages.flatMap(({ role, content }) => {
    if (typeof content === 'string' || (role !== 'assistant' && role !== 'tool')) return []
    return (content as MessagePart[]).filter(isOfType)
  })
}

/** A call, where it stands. Its id may come again later, for another call. */
export interface PlacedCall {
  readonly call: ToolCallPart
  /** The index of its message. */
  readonly at: number
  /** What it was told, before its id comes again. */
  readonly result: ToolResultPart | undefined
}

/** The calls of a tool, in order, each with its own result. */
export function callsOf(messages: readonly ModelMessage[], toolName: string): PlacedCall[] {
  return messages.flatMap((message, at) =>
    partsOfType([message], 'tool-call')
      .filter(call => call.toolName === toolName)
      .map(call => ({ call, at, result: resultOf(messages, call, at) })),
  )
}

function resultOf(
  messages: readonly ModelMessage[],
  { toolCallId }: ToolCallPart,
  at: number,
): ToolResultPart | undefined {
  const later = messages.slice(at + 1)
  const isSame = (part: { readonly toolCallId: string }): boolean => part.toolCallId === toolCallId
  const again = later.findIndex(message => partsOfType([message], 'tool-call').some(isSame))
  // The results of what the provider does stand beside their calls.
  const own = [messages[at], ...(again < 0 ? later : later.slice(0, again))].flatMap(message => message ?? [])
  return partsOfType(own, 'tool-result').find(isSame)
}

/**
 * The messages with results of calls, each in the place of the one its call had, or else right behind the call. What the
 * model said last to a result that was replaced is left out.
 */
export function withResults(
  messages: readonly ModelMessage[],
  results: ReadonlyMap<PlacedCall, ToolResultPart>,
): ModelMessage[] {
  const instead = new Map(
    [...results].flatMap(([{ result }, now]) => (result ? [[result, now] as const] : [])),
  )
  const replaced = new Set<ModelMessage>()
  const inPlace = messages.map(message => {
    if (message.role !== 'tool') return message
    const isReplaced = message.content.some(part => part.type === 'tool-result' && instead.has(part))
    if (!isReplaced) return message
    const content = message.content.map(part =>
      part.type === 'tool-result' ? (instead.get(part) ?? part) : part,
    )
    const told = { ...message, content }
    replaced.add(told)
    return told
  })
  const lastCalls = partsOfType(inPlace.slice(-1), 'tool-call')
  const before = inPlace.at(-2)
  const isSaidToReplaced = inPlace.at(-1)?.role === 'assistant' && lastCalls.length === 0
  const kept =
    isSaidToReplaced && before !== undefined && replaced.has(before) ? inPlace.slice(0, -1) : inPlace
  return kept.flatMap((message, at) => {
    const content = [...results].flatMap(([placed, now]) =>
      placed.at === at && placed.result === undefined ? [now] : [],
    )
    return content.length === 0 ? [message] : [message, { role: 'tool' as const, content }]
  })
}
