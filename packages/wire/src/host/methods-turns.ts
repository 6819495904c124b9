import { WireError, type TurnStartResult } from '../protocol/index.ts'
import type { CommandCall, Handlers } from './dispatch.ts'
import type { Session } from './session.ts'
import { stopWrite, turnWrite, type TurnRecord } from './session-store.ts'
import { INTERRUPTED } from './tool-item.ts'
import { turnCompleted, userMessage, type TurnRunner } from './turn-runner.ts'

/** Why a turn ended that made way for another. */
const REPLACED = 'replaced by another turn'

type TurnMethod = 'turn/start' | 'turn/interrupt' | 'turn/cancel'

export const turnMethods: Pick<Handlers, TurnMethod> = {
  'turn/start': start,
  'turn/interrupt': stop,
  'turn/cancel': stop,
}

async function start(call: CommandCall<'turn/start'>): Promise<void> {
  const { host, commandId, params } = call
  const { session, runner } = await host.loaded(params.sessionId)
  if (runner === undefined) {
    throw new WireError('commandRejected', 'no agent runs on this host; start the turn on one that has one', {
      commandId,
      reason: 'no_agent',
    })
  }
  if (params.input.length === 0) throw new WireError('invalidParams', 'input: expected at least one part')
  const replaces = await session.command(() => takeTurn(call, session, runner))
  // The turn that makes way is ended before the next one begins, and nobody waits for that here.
  if (replaces) runner.stop(REPLACED).catch(host.deps.report)
  else runner.proceed()
}

/** Takes the input of a turn in, as its own turn or into the running one. True when the running one is to make way for it. */
async function takeTurn(
  call: CommandCall<'turn/start'>,
  session: Session,
  runner: TurnRunner,
): Promise<boolean> {
  const { commandId: turnId, params, host } = call
  const { input, displayText, ifBusy = 'queue' } = params
  const { busy, runningTurn } = runner
  if (isKnown(turnId, session, runner)) {
    // Taken in before, by a host that could not say so any more.
    const result = toResult(turnId, turnId, 'started')
    await session.append([], call.ack(result), () => call.reply(result))
    return false
  }
  const shown = displayText === undefined ? {} : { displayText }
  if (ifBusy === 'steer' && runningTurn !== undefined && runner.steers) {
    const result = toResult(turnId, runningTurn.turnId, 'steered')
    const said = { turnId: runningTurn.turnId, commandId: turnId, at: host.deps.now() }
    const item = { ...userMessage({ input, ...shown }, said), steered: true }
    const event = { method: 'item/completed', body: { item }, turnId: runningTurn.turnId }
    await session.append([event], call.ack(result), () => call.reply(result))
    runner.steer(runningTurn.turnId, input)
    return false
  }
  const { queuedTurns: capacity } = host.limits
  if (session.queue.length >= capacity)
    throw new WireError('backpressured', `${capacity} turns wait already; send it again later`, { capacity })
  const replaces = busy && ifBusy === 'replace'
  const result = toResult(turnId, turnId, busy && !replaces ? 'queued' : 'started')
  const record = {
    turnId,
    order: replaces ? firstPlace(session, runningTurn) : session.turnOrder,
    input,
    ...shown,
  }
  const stops =
    replaces && runningTurn !== undefined ? [stopWrite(session.id, runningTurn.turnId, REPLACED)] : []
  await session.append([], [turnWrite(session.id, record), ...stops, ...call.ack(result)], () =>
    call.reply(result),
  )
  if (replaces) session.queue.unshift(record)
  else {
    session.turnOrder += 1
    session.queue.push(record)
  }
  return replaces
}

// Before all that waits, and behind the turn that runs.
function firstPlace({ queue, turnOrder }: Session, running: TurnRecord | undefined): number {
  const next = queue[0]?.order ?? turnOrder
  return ((running?.order ?? next - 1) + next) / 2
}

function isKnown(turnId: string, { state, queue }: Session, { runningTurn }: TurnRunner): boolean {
  return (
    state.startedTurns.has(turnId) ||
    runningTurn?.turnId === turnId ||
    queue.some(turn => turn.turnId === turnId)
  )
}

function toResult(
  commandId: string,
  turnId: string,
  disposition: 'started' | 'queued' | 'steered',
): TurnStartResult {
  return { commandId, status: 'accepted', turnId, startedNewTurn: disposition === 'started', disposition }
}

async function stop(call: CommandCall<'turn/interrupt' | 'turn/cancel'>): Promise<void> {
  const { host, commandId, params } = call
  const { session, runner } = await host.loaded(params.sessionId)
  const running = await session.command(async () => {
    const turnId = params.turnId ?? runner?.runningTurn?.turnId ?? ''
    const waits = session.queue.findIndex(turn => turn.turnId === turnId)
    if (runner === undefined || (turnId !== runner.runningTurn?.turnId && waits === -1)) {
      const reason = 'missing_run'
      throw new WireError('commandRejected', 'no such turn runs or waits here', { commandId, reason })
    }
    const result = { commandId, status: 'accepted', turnId }
    const reply = (): void => call.reply(result)
    if (waits === -1) {
      // Written down with the ack, so that whoever goes on with the turn stops it.
      await session.append([], [stopWrite(session.id, turnId, INTERRUPTED), ...call.ack(result)], reply)
      return runner
    }
    const end = turnCompleted(turnId, { terminal: 'cancelled', reason: INTERRUPTED })
    await session.append([end], call.ack(result), reply)
    session.queue.splice(waits, 1)
    return undefined
  })
  await running?.stop(INTERRUPTED)
}
