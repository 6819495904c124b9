import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { StdioClientTransport as StdioClientTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { held } from './provider-asking.ts'
import { clientV1, clientV2, type Screen } from './provider-clients.ts'
import { bundle } from './provider-fixture-bundle.ts'

let program: Awaited<ReturnType<typeof bundle>>
beforeAll(async () => void (program = await bundle('provider-fixture-server')), 60_000)
afterAll(() => program.remove())

/** A client with a server process of its own, and what that process says on the side. */
async function start(clientOf: typeof clientV1 | typeof clientV2, screen: Screen) {
  const server = { command: process.execPath, args: [program.file], stderr: 'pipe' as const }
  const client = clientOf(screen)
  const transport =
    client instanceof Client ? new StdioClientTransport(server) : new StdioClientTransportV1(server)
  let said = ''
  transport.stderr?.on('data', (chunk: Buffer) => void (said += chunk.toString()))
  await client.connect(transport)
  onTestFinished(() => client.close())
  const deploy = async (id: string, options?: { signal: AbortSignal }): Promise<unknown> => {
    const call = { name: 'deploy', arguments: { id } }
    const result =
      client instanceof Client
        ? await client.callTool(call, options)
        : await client.callTool(call, undefined, options)
    const [content] = result.content as { text: string }[]
    return JSON.parse(content?.text ?? '')
  }
  return { client, deploy, said: () => said, pid: transport.pid }
}

describe.each([
  ['the official client', clientV2],
  ['the official client of the first generation', clientV1],
])('over standard streams, %s', (_, clientOf) => {
  test('answers, one form at a time', async () => {
    let open = 0
    const { deploy } = await start(clientOf, async form => {
      open += 1
      expect(open).toBe(1)
      await new Promise(setImmediate)
      open -= 1
      const [name = ''] = Object.keys(form.requestedSchema.properties)
      return { action: 'accept', content: { [name]: name === 'one' ? 'Staging' : 'Production' } }
    })
    expect(await Promise.all([deploy('one'), deploy('two')])).toEqual([
      { answers: [{ id: 'one', selected: ['Staging'] }] },
      { answers: [{ id: 'two', selected: ['Production'] }] },
    ])
  })

  test.each([
    ['decline', 'ASK_DECLINED'],
    ['cancel', 'ASK_CANCELLED'],
  ])('ends the ask by %s', async (action, code) => {
    const { deploy } = await start(clientOf, () => ({ action }))
    expect(await deploy('one')).toMatch(new RegExp(`^${code} `, 'u'))
  })

  test('takes the form down when the call is cancelled', async () => {
    const [up, down] = [held<void>(), held<void>()]
    const { deploy, said } = await start(clientOf, (_form, signal) => {
      up.resolve()
      signal.addEventListener('abort', () => down.resolve())
      return new Promise(() => {})
    })
    const controller = new AbortController()
    const calling = deploy('one', { signal: controller.signal }).catch(() => 'cancelled')
    await up.promise
    controller.abort()
    await down.promise
    expect(await calling).toBe('cancelled')
    await expect.poll(said).toContain('"ASK_ABORTED ')
  })

  test('may leave in the middle of a question, and the server ends', async () => {
    const up = held<void>()
    const { client, deploy, pid } = await start(clientOf, () => {
      up.resolve()
      return new Promise(() => {})
    })
    deploy('one').catch(() => {})
    await up.promise
    await client.close()
    await expect.poll(() => isRunning(pid ?? 0), { timeout: 10_000 }).toBe(false)
  })
})

test('a client that speaks 2026-07-28 is told that nobody could be asked', async () => {
  const client = new Client(
    { name: 'client', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  )
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program.file], stderr: 'ignore' }),
  )
  onTestFinished(() => client.close())
  const result = await client.callTool({ name: 'deploy', arguments: { id: 'one' } })
  expect(JSON.stringify(result.content)).toMatch(
    /ASK_UNAVAILABLE nobody could be asked .*pause the tool instead/u,
  )
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
