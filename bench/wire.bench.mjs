// How long an answer takes until another client hears of it. In one process: over the wire to a session on disk, against the
// inbox alone on the same kind of store, and against the same two hops where nothing is kept; the three take turns. Then 1,000
// WebSockets on one session of the command's server, against as many on a bare server that passes a frame on.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Inbox, InboxService } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { InboxClient } from '@handraise/provider-web'
import { ToolService } from '@handraise/tools'
import { UserApprovalService } from '@handraise/user-approvals'
import { UserQuestionService } from '@handraise/user-questions'
import { ndjsonChannel, WireService } from '@handraise/wire'
import { Context } from 'cordis'
import { WebSocket, WebSocketServer } from 'ws'

const WARM_UP = 200
const ANSWERS = 1_000
const SOCKETS = 1_000
const SETTLEMENTS = 50

const SESSION = 'bench'
const questions = [
  { id: 'db', question: 'Which store?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] },
]
const answers = [{ questionId: 'db', selectedLabel: 'SQLite' }]
const cli = createRequire(import.meta.url)
  .resolve('handraise/package.json')
  .replace('package.json', 'dist/cli.js')

export async function run() {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-bench-'))
  try {
    await answering(directory)
    await fanningOut(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function answering(directory) {
  const contestants = {
    'nothing kept': await nothingKept(),
    'inbox alone': await inboxAlone(join(directory, 'alone.db')),
    'over the wire': await overTheWire(join(directory, 'wire.db')),
  }
  const times = new Map(Object.keys(contestants).map(name => [name, []]))
  for (let index = -WARM_UP; index < ANSWERS; index += 1) {
    for (const [name, { answer }] of Object.entries(contestants)) {
      const took = await answer(index)
      if (index >= 0) times.get(name).push(took)
    }
  }
  for (const { close } of Object.values(contestants)) await close()
  console.log(`an answer until a second client hears of it, ${ANSWERS} times`)
  const [bare, alone] = [...times.values()]
  for (const [name, of] of times)
    console.log(
      `  ${name.padEnd(14)} p50 ${quantile(of, 0.5).toFixed(3)} ms, p99 ${quantile(of, 0.99).toFixed(3)} ms: ` +
        `${ratio(of, bare)} x nothing kept, ${ratio(of, alone)} x the inbox alone`,
    )
}

async function nothingKept() {
  const peers = new Set()
  async function passOn(channel) {
    peers.add(channel)
    for await (const { text } of channel.incoming) {
      const { id, params } = JSON.parse(text)
      void channel.send(JSON.stringify({ jsonrpc: '2.0', id, result: { status: 'accepted' } }))
      const told = JSON.stringify({ jsonrpc: '2.0', method: 'userInput/settled', params })
      for (const peer of peers) void peer.send(told)
    }
  }
  const [one, two] = [await connect(passOn), await connect(passOn)]
  return {
    async answer(index) {
      const userInputId = `id-${index}`
      const heard = two.told('userInput/settled', params => params.userInputId === userInputId)
      const from = performance.now()
      void one.request('userInput/answer', { sessionId: SESSION, userInputId, answers })
      await heard
      return performance.now() - from
    },
    async close() {
      one.close()
      two.close()
    },
  }
}

async function inboxAlone(file) {
  const inbox = new Inbox({ store: await openSqliteStore({ file }) })
  await inbox.start()
  let hear = () => {}
  await inbox.follow({ entry: ({ change, request }) => hear(change, request), lost() {} })
  return {
    async answer(index) {
      const { request } = await inbox.open(opening(index))
      const heard = new Promise(resolve => {
        hear = (change, { id }) => change === 'settled' && id === request.id && resolve()
      })
      const from = performance.now()
      const answer = { answers: [{ id: 'db', selected: ['SQLite'] }] }
      const command = { commandId: commandId(), surface: 'bench' }
      void inbox.decide(request.id, { outcome: 'answered', answer }, command)
      await heard
      return performance.now() - from
    },
    close: () => inbox.close(),
  }
}

async function overTheWire(file) {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  await ctx.plugin(InboxService, { store: await openSqliteStore({ file }) })
  await ctx.plugin(UserApprovalService)
  await ctx.plugin(ToolService)
  await ctx.plugin(WireService, {})
  const { core } = ctx.inbox
  await core.open(opening('first'))
  const serve = channel => ctx.wire.serve(channel)
  const [one, two] = [await connect(serve), await connect(serve)]
  for (const client of [one, two]) {
    await client.request('initialize', { clientInfo: { name: 'bench', version: '1' } })
    client.send({ method: 'initialized' })
    await client.request('session/resume', { sessionId: SESSION, commandId: commandId() })
  }
  return {
    async answer(index) {
      const asked = Promise.all([one, two].map(each => each.told('userInput/request', isOf(index))))
      await core.open(opening(index))
      const [{ userInputId }] = await asked
      const heard = two.told('userInput/settled', params => params.userInputId === userInputId)
      const from = performance.now()
      const acked = one.request('userInput/answer', {
        sessionId: SESSION,
        commandId: commandId(),
        userInputId,
        answers,
      })
      await heard
      const took = performance.now() - from
      await acked
      return took
    },
    async close() {
      one.close()
      two.close()
      await ctx.fiber.dispose()
    },
  }
}

const opening = index => ({
  kind: 'questions',
  payload: { questions },
  session: SESSION,
  key: `key-${index}`,
})

const isOf =
  index =>
  ({ toolCallId }) =>
    toolCallId === `key-${index}`

/** A client in this process; `serve` is given the other end. */
async function connect(serve) {
  const [there, back] = [new Way(), new Way()]
  const mine = ndjsonChannel({ incoming: back, write: text => there.push(text), close: () => there.end() })
  void serve(ndjsonChannel({ incoming: there, write: text => back.push(text), close: () => back.end() }))
  return new Client(mine)
}

class Way {
  chunks = []
  ended = false
  wake = () => {}

  push(text) {
    this.chunks.push(text)
    this.wake()
  }

  end() {
    this.ended = true
    this.wake()
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      if (this.chunks.length > 0) yield this.chunks.shift()
      else if (this.ended) return
      else await new Promise(resolve => (this.wake = resolve))
    }
  }
}

class Client {
  ids = 0
  hearing = new Set()

  constructor(channel) {
    this.channel = channel
    void this.read()
  }

  async read() {
    for await (const { text } of this.channel.incoming) {
      const frame = JSON.parse(text)
      for (const each of this.hearing) each(frame)
    }
  }

  send(frame) {
    void this.channel.send(JSON.stringify({ jsonrpc: '2.0', ...frame }))
  }

  request(method, params) {
    const id = (this.ids += 1)
    this.send({ id, method, params })
    return this.until(frame => frame.id === id && !('method' in frame))
  }

  async told(method, holds) {
    return (await this.until(frame => frame.method === method && holds(frame.params))).params
  }

  until(holds) {
    return new Promise(resolve => {
      const hear = frame => {
        if (!holds(frame)) return
        this.hearing.delete(hear)
        resolve(frame)
      }
      this.hearing.add(hear)
    })
  }

  close() {
    this.channel.close()
  }
}

async function fanningOut(directory) {
  const bare = await bareFanOut()
  const wire = await wireFanOut(join(directory, 'fan-out.db'))
  console.log(`${SOCKETS} WebSockets until all have heard, ${SETTLEMENTS} times`)
  for (const [name, { all, each }] of Object.entries({ 'bare server': bare, 'over the wire': wire }))
    console.log(
      `  ${name.padEnd(14)} all p50 ${quantile(all, 0.5).toFixed(1)} ms, p99 ${quantile(all, 0.99).toFixed(1)} ms; ` +
        `each p50 ${quantile(each, 0.5).toFixed(1)} ms, p99 ${quantile(each, 0.99).toFixed(1)} ms: ` +
        `${ratio(all, bare.all)} x the bare one`,
    )
}

async function bareFanOut() {
  const server = spawn(process.execPath, [fileURLToPath(import.meta.url), 'bare'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { port } = await firstLine(server)
  const sockets = await openSockets(`ws://127.0.0.1:${port}`, [])
  const frame = index =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: index,
      method: 'userInput/settled',
      params: {
        sessionId: SESSION,
        userInputId: `id-${index}`,
        outcome: 'answered',
        answers,
        pad: 'x'.repeat(300),
      },
    })
  const heard = await settle(sockets, '"userInput/settled"', index => sockets[0].send(frame(index)))
  for (const socket of sockets) socket.terminate()
  server.kill()
  await once(server, 'exit')
  return heard
}

async function wireFanOut(file) {
  const server = spawn(process.execPath, [cli, 'serve', '--json', '--db', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { url, token, wire } = await firstLine(server)
  const inbox = new InboxClient({ url, token })
  await inbox.open({ questions, session: SESSION, key: 'first' })
  const sockets = await openSockets(wire, ['handraise.wire', `handraise.token.${token}`], socket => {
    socket.send(request(1, 'initialize', { clientInfo: { name: 'bench', version: '1' } }))
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'initialized' }))
    socket.send(
      request(2, 'session/resume', { sessionId: SESSION, commandId: commandId(), excludeItems: true }),
    )
    return '"id":2,'
  })
  const heard = await settle(sockets, '"method":"userInput/settled"', async index => {
    const asked = allHear(sockets, '"method":"userInput/request"')
    const { request: opened } = await inbox.open({ questions, session: SESSION, key: `key-${index}` })
    await asked
    return () => {
      const params = { sessionId: SESSION, commandId: commandId(), userInputId: opened.id, answers }
      sockets[0].send(request(100 + index, 'userInput/answer', params))
    }
  })
  for (const socket of sockets) socket.terminate()
  server.kill('SIGINT')
  await once(server, 'exit')
  return heard
}

const request = (id, method, params) => JSON.stringify({ jsonrpc: '2.0', id, method, params })

async function openSockets(url, subprotocols, begin) {
  const sockets = []
  while (sockets.length < SOCKETS) {
    const batch = Array.from({ length: 50 }, async () => {
      const socket = new WebSocket(url, subprotocols, { perMessageDeflate: false })
      socket.hear = () => {}
      // As little as a client can do, so that the server is what is measured.
      socket.on('message', data => socket.hear(data))
      await once(socket, 'open')
      const word = begin?.(socket)
      if (word !== undefined) await allHear([socket], word)
      return socket
    })
    sockets.push(...(await Promise.all(batch)))
  }
  return sockets
}

/** Resolves, once each has been sent a frame that holds a word, with how long each took. */
function allHear(sockets, word) {
  const wanted = Buffer.from(word)
  const from = performance.now()
  const times = []
  return new Promise(resolve => {
    for (const socket of sockets) {
      socket.hear = data => {
        if (!data.includes(wanted)) return
        socket.hear = () => {}
        times.push(performance.now() - from)
        if (times.length === sockets.length) resolve(times)
      }
    }
  })
}

async function settle(sockets, word, prepare) {
  const all = []
  const each = []
  for (let index = -5; index < SETTLEMENTS; index += 1) {
    const send = (await prepare(index)) ?? (() => {})
    const heard = allHear(sockets, word)
    send()
    const times = await heard
    if (index < 0) continue
    all.push(Math.max(...times))
    each.push(...times)
  }
  return { all, each }
}

async function firstLine(child) {
  const lines = createInterface({ input: child.stdout })
  const [line] = await once(lines, 'line')
  return JSON.parse(line)
}

/** Passes what one client sends on to all. */
async function serveBare() {
  const sockets = new Set()
  const server = createServer()
  const upgrades = new WebSocketServer({ server, perMessageDeflate: false })
  upgrades.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('message', data => {
      const text = JSON.stringify(JSON.parse(String(data)))
      for (const each of sockets) each.send(text)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  console.log(JSON.stringify({ port: server.address().port }))
}

// The time, then a count: of version 7, as the protocol has clients mint them.
let minted = 0
function commandId() {
  const time = Date.now().toString(16).padStart(12, '0')
  minted += 1
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${minted.toString(16).padStart(12, '0')}`
}

function ratio(times, against) {
  return (quantile(times, 0.5) / quantile(against, 0.5)).toFixed(2)
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serveBare()
