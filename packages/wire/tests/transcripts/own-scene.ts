import type { Decision } from '@handraise/inbox'
import type { AgentTurn, SessionAgent } from '../../src/index.ts'
import type { Cue, Hosted } from './scenario.ts'
import type { Client } from './recorder.ts'
import type { Frame } from './transcript.ts'

export type ToolCall = readonly [callId: string, name: string, args: object]

/** An agent that makes these calls in every turn, one after the other, and says what came of each. */
export function calls(...made: readonly ToolCall[]): SessionAgent {
  return agent(async turn => {
    for (const [callId, name, args] of made) {
      const result = await turn.callTool({ callId, name, arguments: JSON.stringify(args) })
      await turn.say(result.content, { id: callId })
    }
  })
}

export function asks(...questions: readonly object[]): SessionAgent {
  return calls(['call-1', 'ask_user_question', { questions }])
}

export function agent(run: SessionAgent['run'], more: Partial<SessionAgent> = {}): SessionAgent {
  return { model: { modelId: 'large-1', providerId: 'example' }, run, ...more }
}

/** An agent that says one thing in each turn: what it was told. */
export const echoes = agent(turn => turn.say(`You said: ${textOf(turn)}`))

export function textOf({ input }: Pick<AgentTurn, 'input'>): string {
  return input.flatMap(({ text }) => text ?? []).join('\n')
}

export const DATABASE = {
  id: 'db',
  header: 'Database',
  question: 'Which database?',
  options: [{ label: 'Postgres', description: 'Matches the other services.' }, { label: 'SQLite' }],
}

export const CHECKS = {
  id: 'checks',
  header: 'Checks',
  question: 'Which checks are to run?',
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
}

export interface Asked {
  readonly sessionId: string
  readonly userInputId: string
  readonly approvalId: string
  readonly currentRequirementId: object
}

/** Starts a session and a turn in it, and gives what is asked there. */
export async function untilAsked(client: Client, method = 'userInput/request'): Promise<Asked> {
  await client.start()
  const sessionId = await client.session({ workspaceRoot: '/srv/proj' })
  await client.turn(sessionId)
  return (await client.asked(method)) as unknown as Asked
}

/** Answers what was asked. */
export async function answer(
  client: Client,
  { sessionId, userInputId }: Pick<Asked, 'sessionId' | 'userInputId'>,
  ...answers: readonly object[]
): Promise<Frame> {
  return client.call('userInput/answer', {
    sessionId,
    commandId: client.commandId(),
    userInputId,
    answers,
  })
}

/** Decides what was asked. */
export async function decide(
  client: Client,
  { sessionId, approvalId, currentRequirementId: requirementId }: Asked,
  choiceId: string,
  more: object = {},
): Promise<Frame> {
  const commandId = client.commandId()
  return client.call('approval/decide', {
    sessionId,
    commandId,
    approvalId,
    requirementId,
    choiceId,
    ...more,
  })
}

/** A command of somebody who is not on the line of the transcript. */
export const ELSEWHERE = '019b7760-eeee-7000-8000-000000000001'

/** What somebody decides at a terminal once the client of the transcript has said that it shows the question. */
export function decidedElsewhere(hosted: Hosted, decision: Decision): Cue {
  const { core } = hosted.ctx.inbox
  return {
    after: isReceipt,
    async run() {
      const { requests } = await core.list({ state: 'pending', limit: 1 })
      await core.decide(requests[0]?.id ?? '', decision, { commandId: ELSEWHERE, surface: 'terminal' })
    },
  }
}

/** True of what a client says when it shows what it was asked. */
export const isReceipt: Cue['after'] = (frame, dir) => dir === 'client' && !('method' in frame)
