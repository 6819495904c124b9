import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { acceptedContent, inputRequired, type Pauses } from '../src/index.ts'

/** A server whose one tool drops a table once a person agreed, by `effect`; and ends its process after that when told to. */
export function dropServer(pauses: Pauses, effect: (line: string) => void): () => McpServer {
  return () => {
    const server = new McpServer({ name: 'drop', version: '1' })
    const inputSchema = z.object({ table: z.string(), dies: z.boolean().optional() })
    pauses.registerTool(server, 'drop_table', { inputSchema }, ({ table, dies }, { inputResponses }) => {
      if (acceptedContent(inputResponses, 'sure') !== true) {
        const message = `Drop ${table}?`
        return inputRequired({ requests: [{ id: 'sure', message, schema: { type: 'boolean' } }] })
      }
      effect(`dropped ${table}`)
      if (dies === true) process.kill(process.pid, 'SIGKILL')
      return `dropped ${table}`
    })
    return server
  }
}
