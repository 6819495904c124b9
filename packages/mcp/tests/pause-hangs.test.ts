import { acceptedContent, inputRequired, Pauses, type InputRequest } from '@handraise/mcp'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { textOf, toolServer } from './pause-scene.ts'

const FORM: InputRequest = { id: 'go', message: 'Go on?' }
const ADDRESS: InputRequest = { id: 'go', message: 'Sign in.', kind: 'url', url: 'https://example.com/in' }

afterEach(() => void vi.useRealTimers())

/** A client of 2025 whose person does nothing with what they are shown, and what the tool did. */
async function silent(request: InputRequest) {
  const effects: string[] = []
  const build = toolServer(new Pauses(), {}, ({ inputResponses }) => {
    if (acceptedContent(inputResponses, 'go') !== true) return inputRequired({ requests: [request] })
    effects.push('done')
    return 'done'
  })
  const client = new Client(
    { name: 'client', version: '1' },
    { capabilities: { elicitation: { form: {}, url: {} } } },
  )
  const signals: AbortSignal[] = []
  client.setRequestHandler('elicitation/create', (_, { mcpReq }) => {
    signals.push(mcpReq.signal)
    return new Promise(() => {})
  })
  onTestFinished(() => client.close())
  const [near, far] = InMemoryTransport.createLinkedPair()
  await build().connect(far)
  await client.connect(near)
  return { client, effects, signals }
}

test.each([
  ['a form', FORM],
  ['an address', ADDRESS],
])('a call that is cancelled while %s is shown takes it down, and nothing is done', async (_, request) => {
  const { client, effects, signals } = await silent(request)
  const controller = new AbortController()
  const calling = client
    .callTool({ name: 'tool', arguments: {} }, { signal: controller.signal })
    .catch(() => 'cancelled')
  await vi.waitFor(() => expect(signals).toHaveLength(1))
  controller.abort()
  expect(await calling).toBe('cancelled')
  await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true))
  expect(effects).toEqual([])
})

test.each([
  ['a form', FORM],
  ['an address', ADDRESS],
])(
  'a client of 2025 that neither answers %s nor cancels its call blocks no server for ever',
  async (_, request) => {
    vi.useFakeTimers()
    const { client, effects, signals } = await silent(request)
    const calling = client.callTool({ name: 'tool', arguments: {} }, { timeout: 2 ** 31 - 1 })
    await vi.waitFor(() => expect(signals).toHaveLength(1))
    await vi.advanceTimersByTimeAsync(24 * 3_600_000)
    const result = await calling
    expect(result.isError).toBe(true)
    expect(textOf(result)).not.toContain('done')
    expect(signals[0]?.aborted).toBe(true)
    expect(effects).toEqual([])
  },
)
