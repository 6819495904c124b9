import { quiet } from './line.ts'
import {
  answer,
  asks,
  calls,
  CHECKS,
  DATABASE,
  decidedElsewhere,
  ELSEWHERE,
  isReceipt,
  untilAsked,
} from './own-scene.ts'
import type { OwnScenario } from './recorder.ts'
import { another, scenarioClock, stage } from './scenario.ts'
import { offerUserInput } from './tools.ts'

const SEVERAL = [
  DATABASE,
  { ...CHECKS, multi_select: true },
  { id: 'name', question: 'What is the service called?' },
]

const set = async () => ({ hosted: await stage({ agent: asks(DATABASE) }) })

/** A question that waits for two minutes, on a clock of its own. */
async function setDeadline(defaulted: boolean, timely = false) {
  const clock = scenarioClock()
  const hosted = await stage({ clock, agent: calls(['call-1', 'request_user_input', {}]) })
  const question = { ...DATABASE, ...(defaulted ? { default: { selected: ['SQLite'] } } : {}) }
  offerUserInput(hosted, [question], 120_000)
  const passes = { after: isReceipt, run: () => clock.advance(120_000) }
  return { hosted, clock, cues: timely ? [] : [passes] }
}

/** How questions are settled. */
export const QUESTION_SCENARIOS: readonly OwnScenario[] = [
  {
    name: 'question-answered-single',
    set,
    async script(client) {
      const asked = await untilAsked(client)
      await answer(client, asked, { questionId: 'db', selectedLabel: 'Postgres' })
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-answered-multiple',
    set: async () => ({ hosted: await stage({ agent: asks({ ...CHECKS, multi_select: true }) }) }),
    async script(client) {
      const asked = await untilAsked(client)
      await answer(client, asked, { questionId: 'checks', selectedLabels: ['Tests', 'Lint'] })
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-answered-free-text',
    set,
    async script(client) {
      const asked = await untilAsked(client)
      await answer(client, asked, { questionId: 'db', freeText: 'DuckDB, in a file' })
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-answered-note',
    set,
    async script(client) {
      const asked = await untilAsked(client)
      const note = 'Keep to the version of billing.'
      await answer(client, asked, { questionId: 'db', selectedLabel: 'Postgres', note })
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-answered-several',
    set: async () => ({ hosted: await stage({ agent: asks(...SEVERAL) }) }),
    async script(client) {
      const asked = await untilAsked(client)
      await answer(
        client,
        asked,
        { questionId: 'name', freeText: 'ledger' },
        { questionId: 'db', selectedLabel: 'SQLite', note: 'For now.' },
        { questionId: 'checks', selectedLabels: [] },
      )
      await client.told('turn/completed')
    },
  },
  {
    // One client answers twice under one command: it was answered once, and the ack is the same.
    name: 'question-answered-again',
    set,
    async script(client) {
      const { sessionId, userInputId } = await untilAsked(client)
      const answers = [{ questionId: 'db', selectedLabel: 'Postgres' }]
      const command = { sessionId, commandId: client.commandId(), userInputId, answers }
      await client.call('userInput/answer', command)
      await client.told('turn/completed')
      await client.call('userInput/answer', command)
    },
  },
  {
    name: 'question-skipped-elsewhere',
    async set() {
      const hosted = await stage({ agent: asks(DATABASE) })
      const skip = { answers: [{ id: 'db', selected: [] }] }
      return { hosted, cues: [decidedElsewhere(hosted, { outcome: 'answered', answer: skip })] }
    },
    async script(client) {
      await untilAsked(client)
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-answered-by-another-client',
    async set() {
      const hosted = await stage({ agent: asks(DATABASE) })
      const other = await another(hosted)
      const run = async (): Promise<void> => {
        const [{ session: sessionId, id: userInputId } = { session: '', id: '' }] = (
          await hosted.ctx.inbox.core.list({ state: 'pending' })
        ).requests
        await other.call('session/resume', { sessionId, commandId: other.commandId() })
        const answers = [{ questionId: 'db', selectedLabel: 'SQLite' }]
        await other.call('userInput/answer', { sessionId, userInputId, commandId: ELSEWHERE, answers })
      }
      return { hosted, cues: [{ after: isReceipt, run }] }
    },
    async script(client) {
      const { sessionId, userInputId } = await untilAsked(client)
      await client.told('turn/completed')
      const answers = [{ questionId: 'db', selectedLabel: 'Postgres' }]
      const commandId = client.commandId()
      await client.fails('userInput/answer', { sessionId, userInputId, commandId, answers })
    },
  },
  {
    name: 'question-cancelled',
    set,
    async script(client) {
      const { sessionId, userInputId } = await untilAsked(client)
      const reason = 'the form was closed'
      const commandId = client.commandId()
      await client.call('userInput/cancel', { sessionId, commandId, userInputId, reason })
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-cancelled-without-reason',
    set,
    async script(client) {
      const { sessionId, userInputId } = await untilAsked(client)
      await client.call('userInput/cancel', { sessionId, commandId: client.commandId(), userInputId })
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-declined-elsewhere',
    async set() {
      const hosted = await stage({ agent: asks(DATABASE) })
      const declined = { outcome: 'declined', reason: 'ask the other team' } as const
      return { hosted, cues: [decidedElsewhere(hosted, declined)] }
    },
    async script(client) {
      await untilAsked(client)
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-clarified',
    set,
    async script(client) {
      const { sessionId, userInputId } = await untilAsked(client)
      const clarification = { format: 'text', content: 'There is no new service any more.' }
      const commandId = client.commandId()
      await client.call('userInput/clarify', { sessionId, commandId, userInputId, clarification })
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-interrupted',
    set,
    async script(client) {
      const { sessionId, userInputId } = await untilAsked(client)
      await client.call('userInput/interrupt', { sessionId, commandId: client.commandId(), userInputId })
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-interrupted-with-answers',
    set: async () => ({ hosted: await stage({ agent: asks(...SEVERAL) }) }),
    async script(client) {
      const { sessionId, userInputId } = await untilAsked(client)
      const answers = [{ questionId: 'db', selectedLabel: 'Postgres' }]
      const commandId = client.commandId()
      await client.call('userInput/interrupt', { sessionId, commandId, userInputId, answers })
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-timed-out',
    set: () => setDeadline(false),
    async script(client) {
      await untilAsked(client)
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-timed-out-with-defaults',
    set: () => setDeadline(true),
    async script(client) {
      await untilAsked(client)
      await client.told('turn/completed')
    },
  },
  {
    // Whoever has begun to answer has all the time there is.
    name: 'question-engaged',
    async set() {
      const { hosted, clock } = await setDeadline(true, true)
      const run = async (): Promise<void> => {
        await quiet()
        clock.advance(600_000)
      }
      return { hosted, cues: [{ after: ({ method }) => method === 'userInput/engaged', run }] }
    },
    async script(client) {
      const { sessionId, userInputId } = await untilAsked(client)
      await client.send({ method: 'userInput/engaged', params: { sessionId, userInputId } })
      await answer(client, { sessionId, userInputId }, { questionId: 'db', selectedLabel: 'Postgres' })
      await client.told('turn/completed')
    },
  },
  {
    name: 'question-aborted',
    set,
    async script(client) {
      const { sessionId } = await untilAsked(client)
      await client.call('turn/interrupt', { sessionId, commandId: client.commandId() })
      await client.told('turn/completed')
    },
  },
  {
    // A client that shows no dialogs hears of the question all the same, and may answer it.
    name: 'question-without-dialogs',
    set,
    async script(client) {
      await client.start({ userInputDialogs: false })
      const sessionId = await client.session()
      await client.turn(sessionId)
      const { userInputId } = (await client.told('userInput/requested')) as { userInputId: string }
      await answer(client, { sessionId, userInputId }, { questionId: 'db', selectedLabel: 'Postgres' })
      await client.told('turn/completed')
    },
  },
  {
    // Asked by an agent that no turn runs for.
    name: 'question-of-another-agent',
    async set() {
      const hosted = await stage()
      const { userQuestions } = hosted.ctx
      const questions = [DATABASE]
      const asking = userQuestions.ask({ questions, session: 'workshop', key: 'call-7' })
      asking.catch(() => {})
      return { hosted }
    },
    async script(client) {
      await client.start()
      const sessionId = 'workshop'
      await client.call('session/resume', { sessionId, commandId: client.commandId() })
      const { userInputId } = (await client.asked('userInput/request')) as { userInputId: string }
      await answer(client, { sessionId, userInputId }, { questionId: 'db', selectedLabel: 'SQLite' })
      await client.told('item/completed')
    },
  },
]
