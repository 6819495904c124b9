import { MemoryMedium, MemoryStore } from '@handraise/inbox'
import { agent, answer, asks, calls, CHECKS, DATABASE, decide, echoes, untilAsked } from './own-scene.ts'
import type { OwnScenario } from './recorder.ts'
import { another, stage, type Cue } from './scenario.ts'
import { offerCommand } from './tools.ts'

const set = async () => ({ hosted: await stage({ agent: echoes }) })

const input = [{ type: 'text', text: 'Go on' }]

/** No command of any scenario. */
const NEVER_SENT = '019b7760-0000-7000-8000-00000000dead'

/** What is refused that a client asks about sessions, turns and views. */
const SESSION_ERRORS: readonly OwnScenario[] = [
  {
    name: 'errors-of-commands',
    set,
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      await client.fails('turn/start', { sessionId, input })
      await client.fails('turn/start', {
        sessionId,
        input,
        commandId: '6f1f2c9e-0f0a-4c9d-8a53-0d7c5b8e5f10',
      })
      await client.fails('turn/start', { sessionId, input: [], commandId: client.commandId() })
      await client.fails('turn/start', { sessionId, commandId: client.commandId() })
      const { commandId } = await client.turn(sessionId)
      await client.told('turn/completed')
      await client.fails('turn/start', { sessionId, input: [{ type: 'text', text: 'Other' }], commandId })
      await client.fails('turn/cancel', { sessionId, commandId })
      // What was rejected stays so, in the same words.
      const rejected = { sessionId, commandId: client.commandId() }
      await client.fails('turn/interrupt', rejected)
      await client.fails('turn/interrupt', rejected)
    },
  },
  {
    name: 'errors-of-sessions',
    set,
    async script(client) {
      await client.start()
      const sessionId = 'no-such-session'
      const commandId = () => client.commandId()
      await client.fails('session/resume', { sessionId, commandId: commandId() })
      await client.fails('session/read', { sessionId })
      await client.fails('view/page', { sessionId, limit: 1 })
      await client.fails('view/subscribe', { sessionId })
      await client.fails('approval/listPending', { sessionId })
      await client.fails('turn/start', { sessionId, commandId: commandId(), input })
      await client.session({ sessionId: 'workshop' })
      await client.fails('session/start', { sessionId: 'workshop', commandId: commandId() })
      await client.fails('session/start', { sessionId: ' ', commandId: commandId() })
      const config = { mcpServers: {} }
      await client.fails('session/start', { config, commandId: commandId() })
      await client.fails('session/resume', { sessionId: 'workshop', config, commandId: commandId() })
    },
  },
  {
    // A session that is known, but that nobody has resumed here; it can be read all the same.
    name: 'errors-of-sessions-not-loaded',
    async set() {
      const medium = new MemoryMedium()
      const before = await stage({ agent: echoes, store: new MemoryStore(medium) })
      const peer = await another(before)
      await peer.call('session/start', { sessionId: 'workshop', commandId: peer.commandId() })
      await before.close()
      return { hosted: await stage({ agent: echoes, store: new MemoryStore(medium) }) }
    },
    async script(client) {
      await client.start()
      const sessionId = 'workshop'
      await client.call('session/read', { sessionId })
      await client.fails('turn/start', { sessionId, commandId: client.commandId(), input })
      await client.fails('turn/cancel', { sessionId, commandId: client.commandId() })
      await client.fails('view/subscribe', { sessionId })
      const mode = 'allowAll'
      await client.fails('session/setApprovalMode', { sessionId, commandId: client.commandId(), mode })
    },
  },
  {
    name: 'errors-of-sessions-in-use',
    async set() {
      const medium = new MemoryMedium()
      const other = await stage({ agent: echoes, store: new MemoryStore(medium) })
      const peer = await another(other)
      await peer.call('session/start', { sessionId: 'workshop', commandId: peer.commandId() })
      return { hosted: await stage({ agent: echoes, store: new MemoryStore(medium) }) }
    },
    async script(client) {
      await client.start()
      await client.fails('session/resume', { sessionId: 'workshop', commandId: client.commandId() })
    },
  },
  {
    name: 'errors-of-turns',
    async set() {
      const stays = agent(
        ({ signal }) => new Promise<void>(resolve => signal.addEventListener('abort', () => resolve())),
      )
      return { hosted: await stage({ agent: stays, limits: { queuedTurns: 1 } }) }
    },
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      const turnId = NEVER_SENT
      await client.fails('turn/interrupt', { sessionId, commandId: client.commandId() })
      await client.turn(sessionId)
      await client.told('item/completed')
      await client.turn(sessionId)
      await client.fails('turn/start', { sessionId, commandId: client.commandId(), input })
      await client.fails('turn/cancel', { sessionId, commandId: client.commandId(), turnId })
    },
  },
  {
    name: 'errors-of-turns-without-agent',
    set: async () => ({ hosted: await stage() }),
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      await client.fails('turn/start', { sessionId, commandId: client.commandId(), input })
    },
  },
  {
    // Accepted, and rejected for good once what it deferred has failed.
    name: 'errors-of-turns-that-cannot-begin',
    async set() {
      const prepare = () => Promise.reject(new Error('the model is not there'))
      return { hosted: await stage({ agent: agent(() => {}, { prepare }) }) }
    },
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      const { commandId } = await client.turn(sessionId)
      await client.told('turn/completed')
      await client.fails('turn/start', { sessionId, commandId, input })
    },
  },
  {
    name: 'errors-of-views',
    set,
    async script(client) {
      await client.start()
      const sessionId = await client.session()
      await client.session({ sessionId: 'workshop' })
      await client.turn(sessionId)
      const { viewCursor } = await client.told('turn/completed')
      const other = { sessionId: 'workshop' }
      await client.fails('view/page', { ...other, limit: 1, cursor: viewCursor })
      await client.fails('view/subscribe', { ...other, after: viewCursor })
      await client.fails('session/resume', { ...other, cursor: viewCursor, commandId: client.commandId() })
      await client.fails('view/page', { ...other, limit: 1, cursor: 'v:workshop:7' })
      await client.fails('view/subscribe', { ...other, after: 'v:workshop:7' })
      await client.fails('view/page', { ...other, limit: 1, cursor: 'no cursor' })
      await client.fails('view/page', { ...other, limit: 1, anchor: 'latestCompaction' })
      await client.fails('view/page', { ...other, limit: 1, anchor: 'somewhere' })
      await client.fails('view/page', { ...other, limit: 0 })
    },
  },
]

/** What is refused that a client says of questions and approvals. */
const DECISION_ERRORS: readonly OwnScenario[] = [
  {
    name: 'errors-of-questions',
    set: async () => ({ hosted: await stage({ agent: asks(DATABASE, { ...CHECKS, multi_select: true }) }) }),
    async script(client) {
      const { sessionId, userInputId } = await untilAsked(client)
      const about = () => ({ sessionId, userInputId, commandId: client.commandId() })
      const db = { questionId: 'db', selectedLabel: 'Postgres' }
      const checks = { questionId: 'checks', selectedLabels: ['Lint'] }
      const refused: ReadonlyArray<readonly object[]> = [
        [db],
        [db, checks, db],
        [db, checks, { questionId: 'name', freeText: 'ledger' }],
        [{ ...db, freeText: 'DuckDB' }, checks],
        [{ questionId: 'db' }, checks],
        [{ questionId: 'db', selectedLabel: 'Oracle' }, checks],
        [{ questionId: 'db', selectedLabels: ['Postgres'] }, checks],
        [
          { questionId: 'db', freeText: ' ' },
          { questionId: 'checks', selectedLabel: 'Lint' },
        ],
        [
          { questionId: 'db', freeText: '.'.repeat(501) },
          { ...checks, note: '.'.repeat(501) },
        ],
      ]
      for (const answers of refused) await client.fails('userInput/answer', { ...about(), answers })
      await client.fails('userInput/answer', { ...about(), answers: [db, checks], attachments: [] })
      const clarification = { format: 'text', content: '.'.repeat(501) }
      await client.fails('userInput/clarify', { ...about(), clarification })
      await client.fails('userInput/interrupt', {
        ...about(),
        answers: [{ questionId: 'db', selectedLabel: 'Oracle' }],
      })
      await client.fails('userInput/answer', { ...about(), userInputId: 'no-such-question', answers: [db] })
      await answer(client, { sessionId, userInputId }, db, checks)
      await client.told('turn/completed')
      await client.fails('userInput/answer', { ...about(), answers: [db, checks] })
      await client.fails('userInput/cancel', about())
    },
  },
  {
    name: 'errors-of-approvals',
    async set() {
      const command = 'npm test && npm publish'
      const hosted = await stage({ agent: calls(['call-1', 'run_command', { command }]) })
      offerCommand(hosted)
      return { hosted }
    },
    async script(client) {
      const first = await untilAsked(client, 'approval/request')
      const { sessionId, approvalId, currentRequirementId: requirementId } = first
      const about = (choiceId: string) => ({
        sessionId,
        approvalId,
        requirementId,
        choiceId,
        commandId: client.commandId(),
      })
      const other = { approvalId: 'no-such-approval', requirementId: { approvalId, sourceIndex: 0 } }
      await client.fails('approval/decide', { ...about('allow_once'), ...other })
      await client.fails('approval/decide', {
        ...about('allow_once'),
        requirementId: { approvalId, sourceIndex: 1 },
      })
      await client.fails('approval/decide', about('allow_everything'))
      await client.fails('approval/decide', { ...about('allow_once'), feedback: 'Be quick.' })
      await decide(client, first, 'allow_once')
      const { currentRequirementId } = await client.asked('approval/request')
      await client.fails('approval/decide', about('allow_once'))
      await decide(client, { ...first, currentRequirementId: currentRequirementId as object }, 'deny')
      await client.told('turn/completed')
      await client.fails('approval/decide', about('allow_once'))
    },
  },
]

/** What is refused whatever it is about. */
const LINE_ERRORS: readonly OwnScenario[] = [
  {
    name: 'errors-of-handshakes',
    set,
    async script(client) {
      await client.fails('session/start', { commandId: client.commandId() })
      await client.fails('initialize', { clientInfo: { name: 'Not A Name', version: '1.0.0' } })
      await client.initialize()
      await client.fails('initialize', { clientInfo: { name: 'transcript_client', version: '1.0.0' } })
    },
  },
  {
    name: 'errors-of-frames',
    set,
    async script(client) {
      await client.start()
      const refused = [
        'no frame',
        '[]',
        '{"id":70,"method":"session/read"}',
        '{"jsonrpc":"2.0","id":null,"method":"session/read"}',
        '{"jsonrpc":"2.0","id":71}',
        '{"jsonrpc":"2.0","id":72,"method":"session/read","params":[]}',
      ]
      for (const raw of refused) {
        await client.sendRaw(raw)
        await client.until(({ error }) => error !== undefined)
      }
      // The id comes back as it was sent.
      await client.send({ id: '73', method: 'session/read', params: {} })
      await client.answerTo('73')
    },
  },
  {
    // No frame of this host or its clients is longer than this.
    name: 'errors-of-size',
    async set() {
      const speaks = agent(turn => turn.say('.'.repeat(5_000)))
      const frameBytes = 4_000
      return {
        hosted: await stage({ agent: speaks, limits: { frameBytes } }),
        line: { limitBytes: frameBytes },
      }
    },
    async script(client) {
      await client.start()
      await client.sendRaw(
        `{"jsonrpc":"2.0","id":70,"method":"session/read","params":{"text":"${'.'.repeat(4_000)}"}}`,
      )
      await client.answerTo(70)
      await client.sendRaw(`{"jsonrpc":"2.0","params":{"text":"${'.'.repeat(4_000)}"},"id":71}`)
      await client.answerTo(null)
      const sessionId = await client.session()
      await client.turn(sessionId)
      // What is too long to be told is passed over.
      await client.told('view/gap')
      await client.fails('session/read', { sessionId })
      const { nextCursor: cursor } = await client.call('view/page', { sessionId, limit: 100 })
      await client.fails('view/page', { sessionId, limit: 100, cursor })
    },
  },
  {
    // Methods that are not this host's are its agent's to answer.
    name: 'errors-of-other-methods',
    async set() {
      const request = (method: string) => {
        if (method === 'model/broken') throw new Error('this is for the log')
        if (method === 'model/stopped') throw new DOMException('it was called off', 'AbortError')
        return undefined
      }
      return { hosted: await stage({ agent: agent(() => {}, { request }), report: () => {} }) }
    },
    async script(client) {
      await client.start()
      await client.fails('model/unknown')
      await client.fails('userShell/run')
      await client.fails('feedback/send')
      await client.fails('model/broken')
      await client.fails('model/stopped')
    },
  },
  {
    name: 'errors-of-load',
    async set() {
      let goOn = (): void => {}
      const free = new Promise<void>(resolve => (goOn = resolve))
      const request = () => free.then(() => ({ models: [] }))
      const hosted = await stage({ agent: agent(() => {}, { request }), limits: { requestsInFlight: 1 } })
      const overloaded: Cue['after'] = ({ error }) => error !== undefined
      return { hosted, cues: [{ after: overloaded, run: goOn }] }
    },
    async script(client) {
      await client.start()
      await client.send({ id: 70, method: 'model/list' })
      await client.fails('session/read', { sessionId: 'workshop' })
      await client.answerTo(70)
    },
  },
  {
    name: 'errors-of-shutdown',
    async set() {
      let heard = (): void => {}
      const asked = new Promise<void>(resolve => (heard = resolve))
      const request = (_: string, __: object, signal: AbortSignal) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
          heard()
        })
      const hosted = await stage({ agent: agent(() => {}, { request }) })
      const sent: Cue['after'] = ({ method }) => method === 'model/list'
      return { hosted, cues: [{ after: sent, run: () => asked.then(() => hosted.close()) }], ends: true }
    },
    async script(client) {
      await client.start()
      await client.session()
      await client.fails('model/list')
      await client.told('session/closed')
    },
  },
]

/** Every way in which this host refuses what a client sends. */
export const ERROR_SCENARIOS: readonly OwnScenario[] = [...LINE_ERRORS, ...SESSION_ERRORS, ...DECISION_ERRORS]
