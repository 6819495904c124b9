import { WireError, type TurnStartResult } from '../protocol/index.ts'
import type { CommandCall, Handlers } from './dispatch.ts'
import type { Session } from './session.ts'
import { turnWrite } from './session-store.ts'
import { INTERRUPTED } from './tool-item.ts'
import type { TurnRunner } from './turn-runner.ts'

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
  if (replaces) await runner.stop('replaced by another turn')
  runner.proceed()
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
    await acknowledge(call, toResult(turnId, turnId, 'started'))
    return false
  }
  if (ifBusy === 'steer' && runningTurn !== undefined && runner.steer(runningTurn, input)) {
    await acknowledge(call, toResult(turnId, runningTurn, 'steered'))
    return false
  }
  const { queuedTurns: capacity } = host.limits
  if (session.queue.length >= capacity)
    throw new WireError('backpressured', `${capacity} turns wait already; send it again later`, { capacity })
  const result = toResult(turnId, turnId, busy && ifBusy !== 'replace' ? 'queued' : 'started')
  const record = {
    turnId,
    order: session.turnOrder,
    input,
    ...(displayText === undefined ? {} : { displayText }),
  }
  await session.append([], [turnWrite(session.id, record), ...call.ack(result)])
  session.turnOrder += 1
  if (ifBusy === 'replace') session.queue.unshift(record)
  else session.queue.push(record)
  call.reply(result)
  return busy && ifBusy === 'replace'
}

function isKnown(turnId: string, { state, queue }: Session, { runningTurn }: TurnRunner): boolean {
  return (
    state.startedTurns.has(turnId) || runningTurn === turnId || queue.some(turn => turn.turnId === turnId)
  )
}

function toResult(
  commandId: string,
  turnId: string,
  disposition: 'started' | 'queued' | 'steered',
): TurnStartResult {
  return { commandId, status: 'accepted', turnId, startedNewTurn: disposition === 'started', disposition }
}

async function acknowledge(call: CommandCall<'turn/start'>, result: TurnStartResult): Promise<void> {
  await call.acknowledge(result)
  call.reply(result)
}

async function stop(call: CommandCall<'turn/interrupt' | 'turn/cancel'>): Promise<void> {
  const { host, commandId, params } = call
  const { session, runner } = await host.loaded(params.sessionId)
  const running = await session.command(async () => {
    const turnId = params.turnId ?? runner?.runningTurn ?? ''
    const waits = session.queue.some(turn => turn.turnId === turnId)
    if (runner === undefined || (turnId !== runner.runningTurn && !waits)) {
      const reason = 'missing_run'
      throw new WireError('commandRejected', 'no such turn runs or waits here', { commandId, reason })
    }
    const result = { commandId, status: 'accepted', turnId }
    await call.acknowledge(result)
    call.reply(result)
    if (!waits) return runner
    await runner.drop(turnId, INTERRUPTED)
    return undefined
  })
  await running?.stop(INTERRUPTED)
}
