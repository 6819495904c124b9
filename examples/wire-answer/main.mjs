// A client that comes to a question it was not there for. Exits with 1 when anything is not as it should be.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { mintCommandId } from '@handraise/wire/client'
import { next, open } from './open.mjs'

setTimeout(() => assert.fail('this took too long'), 25_000).unref()

const directory = await mkdtemp(join(tmpdir(), 'wire-answer-'))
const db = join(directory, 'inbox.db')
const sessionId = 'new-service'

/** A client starts a turn, and is killed while the agent waits for an answer. Gives the question's id. */
async function killedClient() {
  const file = fileURLToPath(new URL('first-client.mjs', import.meta.url))
  const child = spawn(process.execPath, [file, db, sessionId], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [userInputId] = await once(createInterface({ input: child.stdout }), 'line')
  child.kill('SIGKILL')
  await once(child, 'exit')
  return userInputId
}

/** Resumes the session. The host before may need a moment to notice that nobody speaks to it any more. */
async function resume(client) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.command('session/resume', { sessionId, excludeItems: true })
    } catch (error) {
      if (error.kind !== 'sessionInUse' || attempt === 100) throw error
      await delay(50)
    }
  }
}

const isTool = ({ item }) => item.kind === 'toolCall'
const isMessage = ({ item }) => item.kind === 'agentMessage'

try {
  const userInputId = await killedClient()
  console.log('the first client is gone, the question waits')

  const { host, client, shown } = await open(db)
  const { pendingRequests } = await resume(client)
  // The result names what waits …
  assert.deepEqual(
    pendingRequests.map(each => [each.kind, each.userInputId]),
    [['userInput', userInputId]],
  )
  // … and the host asks again, under the same id.
  const request = await shown
  assert.equal(request.userInputId, userInputId)
  const [question] = request.questions
  console.log(`asked again: ${question.question} ${question.options.map(({ label }) => label).join(' or ')}?`)

  const selectedLabel = 'Postgres'
  assert.ok(question.options.some(({ label }) => label === selectedLabel))
  const answered = Promise.all([
    next(client, 'userInput/settled'),
    next(client, 'item/completed', isTool),
    next(client, 'item/completed', isMessage),
    next(client, 'turn/completed'),
  ])
  const commandId = mintCommandId()
  const answers = [{ questionId: question.id, selectedLabel }]
  const ack = await client.command('userInput/answer', { sessionId, userInputId, answers }, { commandId })
  // The host has taken the answer; how the question ended comes as an event.
  assert.equal(ack.status, 'accepted')
  const [settled, call, message, turn] = await answered
  assert.equal(settled.outcome, 'answered')
  assert.deepEqual(settled.answers, answers)
  assert.equal(settled.decidedByCommandId, commandId)
  assert.deepEqual([call.item.status, call.item.visibleOutput], ['completed', selectedLabel])
  assert.equal(turn.terminal, 'completed')
  console.log(`answered, and the agent goes on: "${message.item.text}"`)
  assert.equal(message.item.text, 'The new service uses Postgres.')

  const passed = Promise.all([
    next(client, 'userInput/requested'),
    next(client, 'userInput/settled'),
    next(client, 'item/completed', isTool),
    next(client, 'item/completed', isMessage),
    next(client, 'turn/completed'),
  ])
  const input = [{ type: 'text', text: 'And another one. Choose yourself if I am away.' }]
  await client.command('turn/start', { sessionId, input })
  const [asked, ended, lateCall, late, lateTurn] = await passed
  assert.equal(asked.autoResolutionMs, 1_500)
  assert.deepEqual([ended.outcome, ended.answers, ended.decidedByCommandId], ['timedOut', [], null])
  assert.equal(lateCall.item.status, 'timedOut')
  assert.equal(lateTurn.terminal, 'completed')
  console.log(`the window of ${asked.autoResolutionMs} ms passed, and the agent goes on: "${late.item.text}"`)
  assert.equal(late.item.text, 'Nobody answered, so I took SQLite, which is easy to replace.')

  assert.deepEqual(await host.shutdown(), { code: 0, signal: null })
} finally {
  await rm(directory, { recursive: true })
}
console.log('wire-answer: ok')
