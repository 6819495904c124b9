import type { AssistantContent, ModelMessage, ToolContent } from 'ai'

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
