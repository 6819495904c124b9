import { UserQuestionError, UserQuestionService } from '@handraise/user-questions'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { Context } from 'cordis'
import { z } from 'zod'
import { mcpElicitationProvider } from '../src/provider.ts'

// An agent that is an MCP server: its tool asks before it goes on, and says how that ended.
serveStdio(async () => {
  const server = new McpServer({ name: 'agent', version: '1.0.0' })
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  ctx.userQuestions.registerProvider(mcpElicitationProvider(server, { autoDeclineMs: 0 }))
  const inputSchema = z.object({ id: z.string() })
  server.registerTool('deploy', { inputSchema }, async ({ id }, { mcpReq: { signal } }) => {
    const options = [{ label: 'Staging' }, { label: 'Production' }]
    const ended = await ctx.userQuestions
      .ask({ questions: [{ id, question: 'Where to?', options }], signal })
      .catch((error: unknown) =>
        UserQuestionError.isInstance(error) ? `${error.code} ${error.message}` : String(error),
      )
    console.error(JSON.stringify(ended))
    return { content: [{ type: 'text', text: JSON.stringify(ended) }] }
  })
  return server
})
