import type { Question } from '@handraise/user-questions/types'
import { onTestFinished, vi } from 'vitest'
import type { AgentTurn, SessionAgent, TurnReport } from '../../src/index.ts'
import { writeFile } from '../wired.ts'
import { another, scenarioClock, stage, type Hosted, type Scenario } from './scenario.ts'
import { offerUserInput } from './tools.ts'

const WORKSPACE = '/home/me/src/proj'

/** The session of the transcripts that resume one with an approval, and of those with a question. */
const APPROVAL_SESSION = '0198f0aa-1111-7000-8000-0000000000aa'
const QUESTION_SESSION = '0198f0aa-1111-7000-8000-0000000000bb'

type RunTurn = (turn: AgentTurn) => Promise<TurnReport | void>

function agent(run: RunTurn, more: Partial<SessionAgent> = {}): SessionAgent {
  return { model: { modelId: 'muse-large-2', providerId: 'muse' }, run, ...more }
}

const model = (modelId: string, displayLabel: string, more: object) => ({
  modelId,
  displayLabel,
  providerId: 'muse',
  profileId: null,
  description: null,
  cost: null,
  isActive: false,
  ...more,
})

const MODELS = {
  providerId: 'muse',
  profileId: null,
  source: 'bundledCatalog',
  models: [
    model('muse-large-2', 'Muse Large 2', {
      releaseDate: '2026-06-01',
      contextLimit: 200_000,
      outputLimit: 64_000,
      isDefault: true,
    }),
    model('muse-small-1', 'Muse Small 1', {
      releaseDate: '2026-03-01',
      contextLimit: 100_000,
      outputLimit: 32_000,
      isDefault: false,
    }),
  ],
}

const listsModels: Partial<SessionAgent> = {
  request: method => (method === 'model/list' ? MODELS : undefined),
}

const DATABASE: Question = {
  id: 'db_choice',
  header: 'Database',
  question: 'Which database should the new service use?',
  options: [
    { label: 'Postgres', description: 'Matches the other services.' },
    { label: 'SQLite', description: 'Zero-ops, single node only.' },
  ],
}

const asksForDatabase = agent(async turn => {
  await turn
    .callTool({
      callId: 'call_ab31',
      name: 'request_user_input',
      arguments: '{"questions":[{"id":"db_choice","question":"Which database?"}]}',
    })
    .catch(() => {})
  return { usage: { inputTokens: 51_000, outputTokens: 1_500, cachedTokens: 42_000, reasoningTokens: 400 } }
}, listsModels)

const writesManifest = (outputTokens: number, then: RunTurn = async () => {}): SessionAgent =>
  agent(async turn => {
    await turn.callTool({ callId: 'call_9f21', name: 'write_file', arguments: '{"path":"Cargo.toml"}' })
    await then(turn)
    return { usage: { inputTokens: 9_000, outputTokens, cachedTokens: 7_000, reasoningTokens: 0 } }
  })

/** The file and the menu of the transcripts, in the place of those of the tool at hand. */
function offerThreeChoices(): void {
  const tool = writeFile as { permission: NonNullable<(typeof writeFile)['permission']> }
  const permission = vi.spyOn(tool, 'permission').mockImplementation(({ path }) => ({
    subject: { kind: 'fileAccess', access: 'write', path: `${WORKSPACE}/${path}` },
    choices: [
      { choiceId: 'allow_once', label: 'Allow once', decision: 'approved', scope: 'once' },
      {
        choiceId: 'allow_session',
        label: 'Allow for this session',
        decision: 'approvedForSession',
        scope: 'session',
      },
      { choiceId: 'abort', label: 'Reject', decision: 'abort', scope: 'once', acceptsFeedback: true },
    ],
  }))
  onTestFinished(() => permission.mockRestore())
}

/** Starts a session and a turn in it from another client, and waits until somebody is asked. */
async function seed(hosted: Hosted, sessionId: string, turnId: string, text: string, until: string) {
  const peer = await another(hosted)
  await peer.call('session/start', { sessionId, commandId: peer.commandId(), workspaceRoot: WORKSPACE })
  await peer.call('turn/start', { sessionId, commandId: turnId, input: [{ type: 'text', text }] })
  await peer.told(until)
  peer.close()
}

async function setQuestion() {
  const hosted = await stage({ agent: asksForDatabase })
  offerUserInput(hosted, [DATABASE], 120_000)
  const turnId = '018f6a1e-9b3c-7c21-a54a-2f30bd3c9f20'
  await seed(hosted, QUESTION_SESSION, turnId, 'Choose the database for the new service', 'userInput/request')
  return { hosted }
}

async function setApproval() {
  offerThreeChoices()
  const hosted = await stage({ agent: writesManifest(400) })
  const turnId = '018f6a1e-9b3c-7c21-a54a-2f30bd3c9f10'
  await seed(hosted, APPROVAL_SESSION, turnId, 'Update Cargo.toml to bump the version', 'approval/request')
  return { hosted }
}

async function setDenial() {
  offerThreeChoices()
  const denied = writesManifest(120, async turn => {
    const message = turn.stream()
    message.delta('I did not modify Cargo.toml because the approval was denied.')
    await message.end()
  })
  return { hosted: await stage({ agent: denied }) }
}

async function setRoundTrip() {
  offerThreeChoices()
  return { hosted: await stage({ agent: writesManifest(400) }) }
}

/** The first turn lasts until another one waits, and that one cannot be launched. */
async function setFailedLaunch() {
  let goOn = (): void => {}
  const queued = new Promise<void>(resolve => (goOn = resolve))
  const launches = agent(
    async turn => {
      await queued
      await turn.say('The current deployment is ready for its queued checks.')
    },
    {
      prepare({ turnId }) {
        if (turnId === '018f6a32-3333-7000-8000-0000000000c3')
          throw Object.assign(new Error('provider unavailable'), { retryable: true })
      },
    },
  )
  const hosted = await stage({ agent: launches })
  const cues = [{ after: (frame: object) => 'id' in frame && frame.id === 4 && 'result' in frame, run: goOn }]
  return { hosted, cues }
}

/** Twelve events; the client takes its time over the sixth, and is five behind at the most when it is through. */
async function setGap() {
  const stallMs = 1_000
  const clock = scenarioClock()
  let goOn = (): void => {}
  const over = new Promise<void>(resolve => (goOn = resolve))
  onTestFinished(() => goOn())
  const talks = agent(async turn => {
    for (let n = 3; n <= 12; n += 1) await turn.say(`event ${n}`)
    await over
  })
  const hosted = await stage({ agent: talks, clock, limits: { stallMs, lagEvents: 5 } })
  const sessionId = '0198f0aa-fixture-session'
  const peer = await another(hosted)
  await peer.call('session/start', { sessionId, commandId: peer.commandId() })
  const input = [{ type: 'text', text: 'go' }]
  await peer.call('turn/start', { sessionId, commandId: '018f6a1e-0000-7000-8000-000000000001', input })
  await peer.until(frame => JSON.stringify(frame).includes('event 12'))
  const fourth = await peer.until(frame => JSON.stringify(frame).includes('event 4'))
  const { viewCursor } = fourth.params as { viewCursor: string }
  return {
    hosted,
    known: { [`v:${sessionId}:4`]: viewCursor },
    line: { onWay: (frame: string) => frame.includes('event 6') && clock.advance(stallMs) },
  }
}

/** What each published transcript needs of a host. */
export const SCENARIOS: readonly Scenario[] = [
  { name: 'approval-deny-round-trip', set: setDenial },
  { name: 'approval-round-trip', set: setRoundTrip },
  { name: 'gap-recovery-splice-fill', set: setGap },
  { name: 'pending-command-ack-reject', set: setFailedLaunch },
  { name: 'snapshot-suffix-pending-approval', set: setApproval },
  { name: 'snapshot-suffix-pending-userinput', set: setQuestion },
  { name: 'userinput-answer-round-trip', set: setQuestion },
  { name: 'userinput-cancel-round-trip', set: setQuestion },
  { name: 'userinput-interrupt-round-trip', set: setQuestion },
]

/** Transcripts that are about what this host has no part in. */
export const OUTSIDE: Readonly<Record<string, string>> = {
  'goal-replayed-command': 'goals are no part of this host; that a command is done once is among its own',
}
