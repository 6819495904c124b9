import type { CallToolResult } from '@modelcontextprotocol/server'
import type { PauseEnding } from './pause-ending.ts'

/**
 * What a tool came to, as MCP has it: a result as it is, a text as text, and any other data as JSON text, structured as well
 * when it is an object.
 */
export function toToolResult(value: unknown): CallToolResult {
  if (isToolResult(value)) return value
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] }
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) return { content: [] }
  const data = JSON.parse(text) as unknown
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
  return {
    content: [{ type: 'text', text }],
    ...(isObject ? { structuredContent: data } : {}),
  }
}

function isToolResult(value: unknown): value is CallToolResult {
  if (typeof value !== 'object' || value === null || !('content' in value)) return false
  const { content } = value
  return (
    Array.isArray(content) &&
    content.every(
      (block: unknown) =>
        typeof block === 'object' && block !== null && 'type' in block && typeof block.type === 'string',
    )
  )
}

/** An ending as a model reads it; `_meta["handraise/ended"]` is its name, for a program. */
export function toToolEnding({ how, message }: { how: PauseEnding; message: string }): CallToolResult {
  return { content: [{ type: 'text', text: message }], isError: true, _meta: { 'handraise/ended': how } }
}
