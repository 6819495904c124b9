// A client that lets an agent do what a person has looked at, and nothing else. Exits with 1 when anything is not as it should be.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnHost } from '@handraise/wire'
import { connect } from '@handraise/wire/client'

setTimeout(() => assert.fail('this took too long'), 25_000).unref()

// Where the command is installed, `command: 'handraise', args: ['wire', …]` does.
const handraise = fileURLToPath(new URL('dist/cli.js', import.meta.resolve('handraise/package.json')))
const agent = fileURLToPath(new URL('agent.mjs', import.meta.url))
const directory = await mkdtemp(join(tmpdir(), 'wire-approve-'))
const workspaceRoot = await mkdtemp(join(directory, 'workspace-'))

/** The person: reads what would be done, and picks one of the choices offered. Here by a rule, in place of a dialog. */
function person({ subject, availableChoices }) {
  const offers = decision => availableChoices.find(choice => choice.decision === decision)
  if (subject.path.endsWith('notes.txt')) return { choice: offers('approvedForSession') }
  const choice = availableChoices.find(({ acceptsFeedback }) => acceptsFeedback)
  return { choice, feedback: 'the manifest is not yours to change' }
}

const asked = []
const resolved = []
const events = []

const host = await spawnHost({
  command: process.execPath,
  args: [handraise, 'wire', '--db', join(directory, 'inbox.db'), '--agent', agent],
})
const client = await connect(host.channel, {
  clientInfo: { name: 'wire_approve', version: '1.0.0' },
  onEvent(event) {
    events.push(event)
    if (event.method === 'approval/resolved') resolved.push(event.params)
  },
  onRequest({ method, params }) {
    if (method === 'approval/request') decide(params).catch(error => assert.fail(error))
    // "I am handling this", and not the decision.
    return {}
  },
})

async function decide(request) {
  const { sessionId, approvalId, currentRequirementId: requirementId } = request
  const { choice, feedback } = person(request)
  asked.push({ request, choice })
  const ack = await client.command('approval/decide', {
    sessionId,
    approvalId,
    requirementId,
    choiceId: choice.choiceId,
    ...(feedback === undefined ? {} : { feedback }),
  })
  assert.deepEqual([ack.status, ack.terminal], ['accepted', true])
}

/** Runs a turn to its end. Gives how it ended, and what the agent said. */
async function turn(sessionId, text) {
  const ended = new Promise(resolve => {
    const stop = client.onEvent(event => {
      if (event.method !== 'turn/completed') return
      stop()
      resolve(event.params.terminal)
    })
  })
  await client.command('turn/start', { sessionId, input: [{ type: 'text', text }] })
  const terminal = await ended
  const messages = events.flatMap(({ method, params }) =>
    method === 'item/completed' && params.item.kind === 'agentMessage' ? [params.item.text] : [],
  )
  return { terminal, said: messages.at(-1) }
}

try {
  const { session } = await client.command('session/start', { workspaceRoot })
  const { sessionId } = session

  const first = await turn(sessionId, 'notes.txt notes.txt')
  console.log(`allowed for the session: "${first.said}"`)
  assert.deepEqual(first, { terminal: 'completed', said: 'I wrote notes.txt. I wrote notes.txt.' })
  // The second call was covered by the rule that the first decision has added, and nobody was asked.
  assert.equal(asked.length, 1)
  const [{ request, choice }] = asked
  assert.equal(request.subject.path, join(workspaceRoot, 'notes.txt'))
  assert.deepEqual([resolved[0].decision, resolved[0].policyResult], ['approvedForSession', 'allow'])
  // What the person has read before they chose it.
  assert.deepEqual(resolved[0].amendment, { durability: 'session', rulePreview: choice.rulePreview })
  console.log(`remembered: ${choice.rulePreview}`)

  const second = await turn(sessionId, 'manifest.json notes.txt')
  console.log(`denied, with words, and the turn goes on to its end: "${second.said}"`)
  // The person answered, and nothing failed.
  assert.deepEqual(second, {
    terminal: 'completed',
    said: 'I did not write manifest.json: the manifest is not yours to change. I wrote notes.txt.',
  })
  assert.equal(asked.length, 2)
  assert.deepEqual([resolved[1].policyResult, resolved[1].amendment], ['deny', undefined])
  // The words go to the agent, and not into the view.
  assert.equal(JSON.stringify(resolved).includes('not yours'), false)

  assert.deepEqual(await readdir(workspaceRoot), ['notes.txt'])
  assert.deepEqual(await host.shutdown(), { code: 0, signal: null })
} finally {
  await rm(directory, { recursive: true })
}
console.log('wire-approve: ok')
