import { createSdkMcpServer, tool, type McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk'
import { z } from 'zod'
import { askForCall, namedCall, type AdapterOptions } from '../adapter.ts'
import { argumentsSchema } from '../arguments.ts'
import { askUserTool as neutralTool, type Asker } from '../tool.ts'

/** What an in-process MCP server is told of a call. */
export interface McpCall {
  readonly callId: string
}

const extraSchema = z.object({
  signal: z.instanceof(AbortSignal).optional(),
  requestId: z.union([z.string(), z.number()]).optional(),
  _meta: z.looseObject({ 'claudecode/toolUseId': z.string().optional() }).optional(),
})

/**
 * An in-process MCP server with the one tool `ask_user_question`, for queries that shall not use Claude's own:
 * `mcpServers: { handraise: askUserServer(ctx.userQuestions) }`, `allowedTools: ['mcp__handraise__ask_user_question']`,
 * `disallowedTools: ['AskUserQuestion']`.
 */
export function askUserServer(
  asker: Asker,
  options: AdapterOptions<McpCall> = {},
): McpSdkServerConfigWithInstance {
  const neutral = neutralTool(asker, options.onRefusedChild)
  const answer = async (args: unknown, extra: unknown) => {
    const { signal, _meta: meta } = extraSchema.parse(extra)
    const callId = namedCall(meta?.['claudecode/toolUseId'])
    const result = await askForCall(neutral, args, { callId, signal, from: { callId } }, options)
    return { content: [{ type: 'text' as const, text: result.content }], isError: result.isError }
  }
  // Shown as it is, and held against nothing: a call is mended, or told all its faults, where it is run.
  const questions = argumentsSchema.shape.questions.catch(context => asSent(context))
  const made = tool(neutral.name, neutral.description, { questions }, answer, { alwaysLoad: true })
  return createSdkMcpServer({ name: 'handraise', tools: [made] })
}

// Called without a context where the schema is written out.
function asSent(context: { readonly input: unknown } | undefined): never {
  return context?.input as never
}
