import {
  answer,
  asks,
  calls,
  CHECKS,
  DATABASE,
  decide,
  decidedElsewhere,
  ELSEWHERE,
  isReceipt,
  untilAsked,
  type Asked,
} from './own-scene.ts'
import type { OwnScenario } from './recorder.ts'
import { another, stage } from './scenario.ts'
import { offerCommand } from './tools.ts'

const APPROVAL = 'approval/request'

const write = (callId: string, path = 'notes.md') => [callId, 'write_file', { path }] as const

const set = async () => ({ hosted: await stage({ agent: calls(write('call-1')) }) })

/** The same file is written twice. */
const setTwice = async () => ({ hosted: await stage({ agent: calls(write('call-1'), write('call-2')) }) })

async function setStages() {
  const command = 'npm test && npm publish'
  const hosted = await stage({ agent: calls(['call-1', 'run_command', { command }]) })
  offerCommand(hosted)
  return { hosted }
}

/** How approvals are decided. */
export const APPROVAL_SCENARIOS: readonly OwnScenario[] = [
  {
    // What was allowed once is asked again.
    name: 'approval-allowed-once',
    set: setTwice,
    async script(client) {
      await decide(client, await untilAsked(client, APPROVAL), 'allow_once')
      await decide(client, (await client.asked(APPROVAL)) as unknown as Asked, 'allow_once')
      await client.told('turn/completed')
    },
  },
  {
    name: 'approval-allowed-for-session',
    set: setTwice,
    async script(client) {
      await decide(client, await untilAsked(client, APPROVAL), 'allow_session')
      await client.told('turn/completed')
    },
  },
  {
    // Another session is not asked either.
    name: 'approval-allowed-always',
    set,
    async script(client) {
      await decide(client, await untilAsked(client, APPROVAL), 'allow_always')
      await client.told('turn/completed')
      await client.turn(await client.session())
      await client.told('turn/completed')
    },
  },
  {
    name: 'approval-denied',
    set,
    async script(client) {
      await decide(client, await untilAsked(client, APPROVAL), 'deny')
      await client.told('turn/completed')
    },
  },
  {
    name: 'approval-denied-with-feedback',
    set,
    async script(client) {
      const feedback = 'Write it to the changelog instead.'
      await decide(client, await untilAsked(client, APPROVAL), 'deny_feedback', { feedback })
      await client.told('turn/completed')
    },
  },
  {
    name: 'approval-stages-allowed',
    set: setStages,
    async script(client) {
      await decide(client, await untilAsked(client, APPROVAL), 'allow_once')
      await decide(client, (await client.asked(APPROVAL)) as unknown as Asked, 'allow_session')
      await client.told('turn/completed')
    },
  },
  {
    name: 'approval-stages-denied',
    set: setStages,
    async script(client) {
      await decide(client, await untilAsked(client, APPROVAL), 'allow_once')
      await decide(client, (await client.asked(APPROVAL)) as unknown as Asked, 'deny')
      await client.told('turn/completed')
    },
  },
  {
    name: 'approval-cancelled-elsewhere',
    async set() {
      const hosted = await stage({ agent: calls(write('call-1')) })
      return { hosted, cues: [decidedElsewhere(hosted, { outcome: 'cancelled', reason: 'not now' })] }
    },
    async script(client) {
      await untilAsked(client, APPROVAL)
      await client.told('turn/completed')
    },
  },
  {
    name: 'approval-decided-by-another-client',
    async set() {
      const hosted = await stage({ agent: calls(write('call-1')) })
      const other = await another(hosted)
      const run = async (): Promise<void> => {
        const { requests } = await hosted.ctx.inbox.core.list({ state: 'pending' })
        const sessionId = requests[0]?.session ?? ''
        await other.call('session/resume', { sessionId, commandId: other.commandId() })
        const { approvalId, currentRequirementId: requirementId } = await other.told(APPROVAL)
        const choice = { approvalId, requirementId, choiceId: 'allow_once' }
        await other.call('approval/decide', { sessionId, commandId: ELSEWHERE, ...choice })
      }
      return { hosted, cues: [{ after: isReceipt, run }] }
    },
    async script(client) {
      await untilAsked(client, APPROVAL)
      await client.told('turn/completed')
    },
  },
  {
    name: 'approval-aborted',
    set,
    async script(client) {
      const { sessionId } = await untilAsked(client, APPROVAL)
      await client.call('turn/interrupt', { sessionId, commandId: client.commandId() })
      await client.told('turn/completed')
    },
  },
  {
    name: 'approval-list-pending',
    async set() {
      const hosted = await stage({ agent: calls(write('call-1')) })
      return { hosted }
    },
    async script(client) {
      const asked = await untilAsked(client, APPROVAL)
      const { sessionId } = asked
      await client.call('approval/listPending', { sessionId })
      await decide(client, asked, 'deny')
      await client.told('turn/completed')
      await client.call('approval/listPending', { sessionId })
    },
  },
  {
    name: 'question-list-pending',
    set: async () => ({ hosted: await stage({ agent: asks(DATABASE, CHECKS) }) }),
    async script(client) {
      const asked = await untilAsked(client)
      const { sessionId } = asked
      await client.call('approval/listPending', { sessionId })
      const answers = [
        { questionId: 'db', selectedLabel: 'SQLite' },
        { questionId: 'checks', selectedLabel: 'Lint' },
      ]
      await answer(client, asked, ...answers)
      await client.told('turn/completed')
      await client.call('approval/listPending', { sessionId })
    },
  },
  {
    // What waits is decided as it was asked; what comes later goes by the new mode.
    name: 'approval-mode-changed',
    set: setTwice,
    async script(client) {
      const asked = await untilAsked(client, APPROVAL)
      const { sessionId } = asked
      const mode = 'allowAll'
      await client.call('session/setApprovalMode', { sessionId, commandId: client.commandId(), mode })
      await client.told('session/approvalModeChanged')
      await client.call('session/setApprovalMode', { sessionId, commandId: client.commandId(), mode })
      await decide(client, asked, 'allow_once')
      await client.told('turn/completed')
    },
  },
  {
    name: 'approval-mode-denies',
    set,
    async script(client) {
      await client.start()
      const sessionId = await client.session({ approvalMode: 'denyUnmatched' })
      await client.turn(sessionId)
      await client.told('turn/completed')
    },
  },
]
