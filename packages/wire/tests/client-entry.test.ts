import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { expect, test } from 'vitest'
import * as client from '../src/client-entry.ts'
import { FINGERPRINT, ScriptedHost } from './client-peer.ts'
import { pipe } from './pipe.ts'

interface Bundler {
  build(options: object): Promise<{
    readonly metafile: { readonly inputs: Readonly<Record<string, object>> }
    readonly outputFiles: readonly { readonly text: string }[]
  }>
}

// The bundler of this repository's builds brings it.
const tsup = createRequire(createRequire(import.meta.url).resolve('tsup'))
const { build } = tsup('esbuild') as Bundler

test('the client runs where there is nothing of Node', async () => {
  // A builtin of Node would not be resolved, and fail it.
  const { metafile, outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../src/client-entry.ts', import.meta.url))],
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    globalName: 'client',
    platform: 'browser',
    conditions: ['@handraise/source'],
    logLevel: 'silent',
  })
  const inputs = Object.keys(metafile.inputs)
  expect(inputs.some(name => name.endsWith('client/wire-client.ts'))).toBe(true)
  expect(
    inputs.filter(name => /\/(ws|cordis|inbox)\/|client\/spawn|stdio-channel|\/host\//.test(name)),
  ).toEqual([])

  const page = createContext({ AbortController, crypto, setTimeout, clearTimeout })
  runInContext(outputFiles[0]!.text, page)
  const bundled = page['client'] as typeof client
  expect(Object.keys(bundled).toSorted()).toEqual(Object.keys(client).toSorted())

  const [near, far] = pipe()
  const host = new ScriptedHost(client.ndjsonChannel(far))
  const connecting = bundled.connect(bundled.ndjsonChannel(near), {
    clientInfo: { name: 'page', version: '1' },
    expectedFingerprint: FINGERPRINT,
  })
  await host.shakeHands()
  const connection = await connecting
  const commanding = connection.command('userInput/cancel', { sessionId: 's-1', userInputId: 'u-1' })
  const command = await host.next()
  const ack = { commandId: command.params?.['commandId'], status: 'accepted', userInputId: 'u-1' }
  host.answer(command, ack)
  expect(await commanding).toEqual(ack)
  connection.close()
  await host.ended()
})

test('the client offers what it says', () => {
  expect(Object.keys(client).toSorted()).toMatchInlineSnapshot(`
    [
      "FRAME_LIMIT_BYTES",
      "NOTHING_PENDING",
      "PendingView",
      "TOKEN_SUBPROTOCOL_PREFIX",
      "WIRE_SUBPROTOCOL",
      "WireClient",
      "WireConnectionError",
      "WireError",
      "WireProtocolError",
      "connect",
      "connectWebSocket",
      "foldListed",
      "foldPending",
      "mintCommandId",
      "ndjsonChannel",
      "pendingView",
      "webSocketChannel",
    ]
  `)
})
