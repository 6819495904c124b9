// Two people answer one question at once, over WebSocket. Exits with 1 when anything is not as it should be.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { connectWebSocket, mintCommandId, pendingView } from '@handraise/wire/client'
import { WebSocket } from 'ws'

setTimeout(() => assert.fail('this took too long'), 25_000).unref()

const handraise = fileURLToPath(new URL('dist/cli.js', import.meta.resolve('handraise/package.json')))
const agent = fileURLToPath(new URL('agent.mjs', import.meta.url))
const sessionId = 'release'

/** One of the two: looks at the session and knows what waits in it. */
async function person(name, { wire, token }, open) {
  const events = []
  // A browser, and Node from 22 on, bring a WebSocket of their own.
  const client = await connectWebSocket(wire, {
    token,
    WebSocket,
    clientInfo: { name, version: '1.0.0' },
    onEvent: event => events.push(event),
    onRequest: () => ({}),
  })
  // Before the session is opened, so that nothing is missed.
  const view = pendingView(client, sessionId)
  await client.command(open, { sessionId })
  return { client, view, events }
}

/** Resolves as soon as it holds. */
function until(view, holds) {
  return new Promise(resolve => {
    const look = () => {
      if (!holds()) return
      stop()
      resolve()
    }
    const stop = view.subscribe(look)
    look()
  })
}

const server = spawn(process.execPath, [handraise, 'serve', '--memory', '--json', '--agent', agent], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
process.on('exit', () => server.kill('SIGKILL'))
const [line] = await once(createInterface({ input: server.stdout }), 'line')
const address = JSON.parse(line)

const ann = await person('ann', address, 'session/start')
const ben = await person('ben', address, 'session/resume')
const input = [{ type: 'text', text: 'Release it.' }]
await ann.client.command('turn/start', { sessionId, input })
await Promise.all([ann, ben].map(({ view }) => until(view, () => view.userInputs.length === 1)))
const [{ userInputId, questions }] = ben.view.userInputs
console.log(`both are asked: ${questions[0].question}`)

const answer = ({ client }, selectedLabel, commandId) =>
  client.command(
    'userInput/answer',
    { sessionId, userInputId, answers: [{ questionId: 'when', selectedLabel }] },
    { commandId },
  )
const commands = [mintCommandId(), mintCommandId()]
const results = await Promise.allSettled([
  answer(ann, 'Friday', commands[0]),
  answer(ben, 'Monday', commands[1]),
])
const won = results.findIndex(({ status }) => status === 'fulfilled')
const lost = results[1 - won]
const label = ['Friday', 'Monday'][won]
console.log(`${['ann', 'ben'][won]} was first: ${label}; the other is told: ${lost.reason.message}`)
assert.equal(lost.status, 'rejected')
assert.deepEqual([lost.reason.code, lost.reason.kind], [-32_056, 'userInputAlreadySettled'])
assert.equal(lost.reason.data.settlement.outcome, 'answered')

// Both are told how it ended. A command that is not one's own says to take the prompt down.
for (const { view } of [ann, ben]) {
  await until(view, () => view.settlementOf(userInputId) !== undefined)
  const { params } = view.settlementOf(userInputId)
  assert.deepEqual([params.outcome, params.decidedByCommandId], ['answered', commands[won]])
  assert.deepEqual(params.answers, [{ questionId: 'when', selectedLabel: label }])
  assert.deepEqual(view.userInputs, [])
}
for (const { client, events } of [ann, ben]) {
  const isEnd = ({ method }) => method === 'turn/completed'
  if (!events.some(isEnd)) {
    await new Promise(resolve => {
      const stop = client.onEvent(event => {
        if (!isEnd(event)) return
        stop()
        resolve()
      })
    })
  }
  const told = events.filter(({ method }) => method === 'userInput/settled')
  assert.equal(told.length, 1)
  const said = events.find(({ params }) => params.item?.kind === 'agentMessage')
  assert.equal(said.params.item.text, `I release on ${label}.`)
}
console.log(`the agent heard it once: "I release on ${label}."`)

server.kill('SIGINT')
const [code] = await once(server, 'exit')
assert.equal(code, 0)
await Promise.all([ann.client.closed, ben.client.closed])
console.log('wire-race: ok')
