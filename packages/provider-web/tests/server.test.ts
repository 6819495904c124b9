import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Inbox, MemoryStore } from '@handraise/inbox'
import {
  InboxServerError,
  readState,
  startInboxServer,
  type InboxServerOptions,
} from '@handraise/provider-web'
import { build } from 'tsup'
import { describe, expect, onTestFinished, test } from 'vitest'
import { quietPort, send, serve, stream, TOKEN } from './served.ts'

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-web-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

async function start(options: Omit<InboxServerOptions, 'inbox'> = {}) {
  const inbox = new Inbox({ store: new MemoryStore() })
  await inbox.start()
  const server = await startInboxServer({ inbox, ...options }).catch(async (error: unknown) => {
    await inbox.close()
    throw error
  })
  onTestFinished(async () => {
    await server.close()
    await inbox.close()
  })
  return server
}

async function occupied(port = 0): Promise<number> {
  const other = createServer()
  await new Promise<void>(resolve => void other.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void other.close())
  return (other.address() as AddressInfo).port
}

describe('a server', () => {
  test('listens on this machine alone, with a new token of its own', async () => {
    const [a, b] = [await start(), await start()]
    expect(a.url).toBe(`http://127.0.0.1:${a.port}/`)
    expect(a.token).toMatch(/^[\w-]{43}$/u)
    expect(a.token).not.toBe(b.token)
  })

  test.each(['0.0.0.0', '::', '192.168.1.5', 'desk.example'])(
    'refuses to listen on %s unasked',
    async host => {
      await expect(start({ host })).rejects.toMatchObject({ code: 'REMOTE_NOT_ALLOWED', details: { host } })
    },
  )

  test('listens for other machines when told to, and goes by the names it is given', async () => {
    const { url, port } = await start({
      host: '0.0.0.0',
      allowRemote: true,
      token: TOKEN,
      allowedHosts: ['desk'],
    })
    expect(url).toBe(`http://127.0.0.1:${port}/`)
    const get = async (host: string) =>
      (await send(url, 'GET', '/api/requests', { headers: { authorization: `Bearer ${TOKEN}`, host } }))
        .status
    expect([await get('desk:80'), await get('other:80')]).toEqual([200, 403])
  })

  test('takes the token from a file', async () => {
    const tokenFile = join(temporary(), 'token')
    writeFileSync(tokenFile, `${TOKEN}\n`)
    expect((await start({ tokenFile })).token).toBe(TOKEN)
  })

  test('does not start with a token file that is missing or empty', async () => {
    const tokenFile = join(temporary(), 'token')
    await expect(start({ tokenFile })).rejects.toMatchObject({ code: 'TOKEN_UNREADABLE' })
    writeFileSync(tokenFile, '\n')
    await expect(start({ tokenFile })).rejects.toMatchObject({ code: 'TOKEN_UNREADABLE' })
  })

  test('answers a malformed Host as JSON', async () => {
    const { url } = await start()
    const { status, json } = await send(url, 'GET', '/api/requests', { headers: { host: 'a b' } })
    expect([status, json.code]).toEqual([400, 'BAD_REQUEST'])
  })

  test('leaves the Request and Response of its host as they are', async () => {
    const before = [globalThis.Request, globalThis.Response]
    await start()
    expect([globalThis.Request, globalThis.Response]).toEqual(before)
  })
})

describe('a state file', () => {
  test('keeps port and token over a restart', async () => {
    const stateFile = join(temporary(), 'state.json')
    const first = await start({ stateFile, port: await quietPort() })
    await first.close()
    const second = await start({ stateFile })
    expect([second.port, second.token]).toEqual([first.port, first.token])
  })

  test('is readable by its owner alone, and written whole', async () => {
    const directory = join(temporary(), 'deep/er')
    const stateFile = join(directory, 'state.json')
    const { url, port, token, close } = await start({ stateFile })
    expect(statSync(stateFile).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory)).toEqual(['state.json'])
    expect(await readState(stateFile)).toEqual({ url, port, token, host: '127.0.0.1', pid: process.pid })
    await close()
    // Nobody serves any more, whatever process gets that number next.
    expect(await readState(stateFile)).toEqual({ url, port, token, host: '127.0.0.1' })
    expect(statSync(stateFile).mode & 0o777).toBe(0o600)
  })

  test('gives way when its port is taken by another program', async () => {
    const stateFile = join(temporary(), 'state.json')
    const first = await start({ stateFile, port: await quietPort() })
    await first.close()
    await occupied(first.port)
    const second = await start({ stateFile })
    expect(second.port).not.toBe(first.port)
    expect(second.token).toBe(first.token)
    expect(await readState(stateFile)).toMatchObject({ port: second.port })
  })

  test('stays with the server that serves', async () => {
    const stateFile = join(temporary(), 'state.json')
    const first = await start({ stateFile })
    const second = await start({ stateFile })
    expect(second.port).not.toBe(first.port)
    expect(second.token).toBe(first.token)
    expect(await readState(stateFile)).toMatchObject({ port: first.port })
    await second.close()
    expect(await readState(stateFile)).toMatchObject({ port: first.port, pid: process.pid })
  })

  test('says who holds a port that was named', async () => {
    const stateFile = join(temporary(), 'state.json')
    const { port, url } = await start({ stateFile })
    const refused = await start({ stateFile, port }).catch((error: unknown) => error)
    expect(InboxServerError.isInstance(refused)).toBe(true)
    expect(refused).toMatchObject({ code: 'PORT_IN_USE', details: { port, pid: process.pid, url } })
    expect(String(refused)).toContain(`held by the inbox of process ${process.pid}, at ${url}`)
  })

  test('is not blamed for a port that another program holds', async () => {
    const stateFile = join(temporary(), 'state.json')
    const port = await occupied()
    await expect(start({ stateFile, port })).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      details: { port, pid: undefined },
    })
    expect(readdirSync(join(stateFile, '..'))).toEqual([])
  })

  test.each(['', '{', '{"a":1}', '{"handraise":"inbox-server","version":2}', 'ssh-rsa AAAA'])(
    'that holds %j is left as it is',
    async text => {
      const stateFile = join(temporary(), 'state.json')
      writeFileSync(stateFile, text)
      await expect(start({ stateFile })).rejects.toMatchObject({ code: 'STATE_UNREADABLE' })
      expect(readFileSync(stateFile, 'utf8')).toBe(text)
    },
  )

  test('yields to a token that is named, and remembers that one', async () => {
    const stateFile = join(temporary(), 'state.json')
    await (await start({ stateFile })).close()
    const { token } = await start({ stateFile, token: TOKEN })
    expect(token).toBe(TOKEN)
    expect(await readState(stateFile)).toMatchObject({ token: TOKEN })
  })
})

describe('closing a server', () => {
  test('ends event streams, idle connections and half-sent requests at once', async () => {
    const { url, server } = await serve()
    const events = await stream(url)
    await events.next()
    const sockets = [connect(server.port, '127.0.0.1'), connect(server.port, '127.0.0.1')]
    await Promise.all(sockets.map(socket => new Promise(resolve => socket.once('connect', resolve))))
    sockets[1]?.write('POST /api/requests HTTP/1.1\r\nHost: 127.0.0.1\r\n')
    const closed = sockets.map(socket => new Promise(resolve => socket.once('close', resolve)))
    for (const socket of sockets) socket.on('error', () => {}).resume()
    const begun = performance.now()
    await server.close()
    expect(performance.now() - begun).toBeLessThan(500)
    await Promise.all(closed)
    expect(await events.next()).toBeUndefined()
    await server.close()
  })

  test('lets what is being answered finish', async () => {
    const { call, inbox, server, ask } = await serve()
    const id = await ask()
    const decide = inbox.decide.bind(inbox)
    let begun = (): void => {}
    const deciding = new Promise<void>(resolve => (begun = resolve))
    inbox.decide = async (...args) => {
      begun()
      await new Promise(resolve => setTimeout(resolve, 100))
      return decide(...args)
    }
    const answering = call('POST', `/api/requests/${id}/answer`, { commandId: 'c', text: '2' })
    await deciding
    await server.close()
    expect((await answering).status).toBe(200)
  })

  test('ends a long poll as pending', async () => {
    const { call, inbox, server, ask } = await serve()
    const id = await ask()
    const waiting = call('GET', `/api/requests/${id}/wait`)
    while (inbox.waiting(id) === 0) await new Promise(resolve => setTimeout(resolve, 5))
    await server.close()
    expect((await waiting).json).toEqual({ pending: true })
  })

  test('does not wait for a client that does not read', async () => {
    const { server, url, inbox } = await serve()
    const payload = { questions: [{ id: 'a', question: '?', detail: 'x'.repeat(90_000) }] }
    for (let count = 0; count < 100; count += 1) await inbox.open({ kind: 'questions', payload })
    const sent = httpRequest(new URL('/api/events', url), {
      headers: { authorization: `Bearer ${TOKEN}` },
      agent: false,
    })
    sent.on('error', () => {})
    sent.on('response', response => response.on('error', () => {}).pause())
    sent.end()
    while (server.viewers() === 0) await new Promise(resolve => setTimeout(resolve, 5))
    const begun = performance.now()
    await server.close()
    expect(performance.now() - begun).toBeLessThan(2_000)
  })

  test('leaves nothing that keeps the process alive', async () => {
    const directory = temporary()
    await build({
      config: false,
      silent: true,
      entry: { closes: new URL('fixtures/closes.ts', import.meta.url).pathname },
      outDir: directory,
      outExtension: () => ({ js: '.mjs' }),
      format: 'esm',
      platform: 'node',
      target: 'node20',
      noExternal: [/./],
      tsconfig: new URL('../tsconfig.json', import.meta.url).pathname,
      esbuildOptions: options => {
        options.conditions = ['@handraise/source', 'import', 'module', 'default']
      },
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    })
    const { stdout } = await promisify(execFile)(process.execPath, [join(directory, 'closes.mjs')], {
      timeout: 10_000,
    })
    const [closedAfterMs, exitedAfterMs] = JSON.parse(stdout) as [number, number]
    expect(closedAfterMs).toBeLessThan(1_000)
    expect(exitedAfterMs).toBeLessThan(1_000)
  })
})
