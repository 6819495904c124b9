import type { AssistantContent, ModelMessage, ToolContent, ToolResultPart } from 'ai'

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

/**
 * The messages with results of calls, each in the place of the one its call had, or else right behind the call. What the
 * model said last to a result that was replaced is left out.
 */
export function withResults(
  messages: readonly ModelMessage[],
  results: readonly ToolResultPart[],
): ModelMessage[] {
  const byCall = new Map(results.map(result => [result.toolCallId, result]))
  const replaced = new Set<ModelMessage>()
  const inPlace = messages.map(message => {
    if (message.role !== 'tool') return message
    const isReplaced = message.content.some(
      part => part.type === 'tool-result' && byCall.has(part.toolCallId),
    )
    if (!isReplaced) return message
    const content = message.content.map(part => {
      const result = part.type === 'tool-result' ? byCall.get(part.toolCallId) : undefined
      if (result !== undefined) byCall.delete(result.toolCallId)
      return result ?? part
    })
    const told = { ...message, content }
    replaced.add(told)
    return told
  })
  const lastCalls = partsOfType(inPlace.slice(-1), 'tool-call')
  const before = inPlace.at(-2)
  const isSaidToReplaced = inPlace.at(-1)?.role === 'assistant' && lastCalls.length === 0
  const kept =
    isSaidToReplaced && before !== undefined && replaced.has(before) ? inPlace.slice(0, -1) : inPlace
  return kept.flatMap(message => {
    const own = partsOfType([message], 'tool-call').flatMap(({ toolCallId }) => byCall.get(toolCallId) ?? [])
    return own.length === 0 ? [message] : [message, { role: 'tool' as const, content: own }]
  })
}
