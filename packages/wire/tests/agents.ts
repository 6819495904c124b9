import type { AgentTurn, SessionAgent } from '../src/index.ts'

export const DATABASE = {
  id: 'db',
  header: 'Database',
  question: 'Which database?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}

/** An agent that makes the calls given, one after the other, and says the content of each result. */
export function calling(...calls: ReadonlyArray<readonly [name: string, args: object]>): SessionAgent {
  return {
    async run(turn: AgentTurn) {
      let made = 0
      for (const [name, args] of calls) {
        made += 1
        const callId = `${turn.turnId}-${made}`
        const result = await turn.callTool({ callId, name, arguments: JSON.stringify(args) })
        await turn.say(result.content, { id: callId })
      }
    },
  }
}

export function asking(...questions: readonly object[]): SessionAgent {
  return calling(['ask_user_question', { questions }])
}

export const TEXT = [{ type: 'text', text: 'go' }]
