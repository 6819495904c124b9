import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { query, type Options, type SDKMessage } from '@anthropic-ai/claude-agent-sdk'
import { onTestFinished } from 'vitest'

type Block = { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; input: unknown }

/** One tool result, as the model was told of it. */
export interface ToldResult {
  readonly id: string
  readonly text: string
  readonly isError: boolean
}

interface Sent {
  readonly tools?: ReadonlyArray<{ readonly name: string; readonly input_schema: unknown }>
  readonly messages: ReadonlyArray<{ readonly content: unknown }>
}

export const says = (text: string): Block => ({ type: 'text', text })
export const uses = (id: string, name: string, input: unknown): Block => ({
  type: 'tool_use',
  id,
  name,
  input,
})

/**
 * The Claude Agent SDK with its own command, in a home of its own, and a model at the other end of the Messages API that
 * says what it is told to, one block a turn, or several. Nothing leaves this machine.
 */
export async function startClaude(...script: Array<Block | Block[]>) {
  const sent: Sent[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += String(chunk)))
    request.on('end', () => {
      const parsed = (body === '' ? {} : JSON.parse(body)) as Sent
      // The command asks for small things on the side, such as a title, without tools.
      const isTurn = request.url?.startsWith('/v1/messages?') === true && (parsed.tools?.length ?? 0) > 0
      if (!isTurn) return void response.writeHead(404).end()
      const blocks = [script[sent.length] ?? says('the script is at its end')].flat()
      sent.push(parsed)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(toEvents(blocks))
    })
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'handraise-claude-')))
  const commands: Array<Promise<unknown>> = []
  const spawnClaudeCodeProcess: Options['spawnClaudeCodeProcess'] = ({ command, args, cwd, env, signal }) => {
    const child = spawn(command, args, { cwd, env, signal, stdio: ['pipe', 'pipe', 'ignore'] })
    commands.push(new Promise(resolve => void child.once('close', resolve)))
    return child
  }
  onTestFinished(async () => {
    // One that was stopped writes down what it knew before it goes.
    await Promise.all(commands)
    server.closeAllConnections()
    server.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })
  const address = server.address() as { port: number }
  const run = async (
    options: Options,
    prompt: Parameters<typeof query>[0]['prompt'] = 'Set it up.',
  ): Promise<SDKMessage[]> => {
    const messages: SDKMessage[] = []
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      CLAUDE_CONFIG_DIR: home,
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${address.port}`,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }
    const fixed: Options = { cwd: home, settingSources: [], env, spawnClaudeCodeProcess }
    for await (const message of query({ prompt, options: { ...fixed, ...options } })) messages.push(message)
    return messages
  }
  return {
    home,
    run,
    /** What the model says still; may be added to. */
    script,
    turns: () => sent.length,
    offered: (name: string) => sent[0]?.tools?.find(tool => tool.name === name),
    told: () => toldIn(sent.at(-1)?.messages ?? []),
  }
}

/** The last thing a run said of itself. */
export const resultOf = (messages: SDKMessage[]) => messages.findLast(({ type }) => type === 'result')

function toldIn(messages: Sent['messages']): ToldResult[] {
  return messages.flatMap(({ content }) => {
    if (!Array.isArray(content)) return []
    return (content as Array<Record<string, unknown>>).flatMap(part => {
      if (part.type !== 'tool_result') return []
      const text = Array.isArray(part.content)
        ? part.content.map((block: { text?: string }) => block.text ?? '').join('')
        : String(part.content)
      return [{ id: String(part.tool_use_id), text, isError: part.is_error === true }]
    })
  })
}

function toEvents(blocks: Block[]): string {
  const stopReason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
  const message = {
    id: `msg_${crypto.randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const events = [
    { type: 'message_start', message },
    ...blocks.flatMap((block, index) => {
      const [start, delta] = partsOf(block)
      return [
        { type: 'content_block_start', index, content_block: start },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ]
    }),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: 1 },
    },
    { type: 'message_stop' },
  ]
  return events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

function partsOf(block: Block): [start: object, delta: object] {
  return block.type === 'text'
    ? [
        { type: 'text', text: '' },
        { type: 'text_delta', text: block.text },
      ]
    : [
        { ...block, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
      ]
}
