import { defineTool } from '@handraise/tools'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { SessionAgent } from '../src/index.ts'
import type { Frame } from './fixtures/bare-client.ts'
import { closedGate } from './fixtures/gate.ts'
import { startSession, startTurn, viewOf } from './fixtures/session-commands.ts'
import { allowNothingUnhandled } from './fixtures/unhandled.ts'
import { afterALease, worldOn, type Host, type World } from './fixtures/world.ts'

allowNothingUnhandled()

const input = (text: string): Frame => ({ input: [{ type: 'text', text }] })

/** Agents of one world: the tool of the first one does not end before the test does, that of the next at once. */
async function hostIn(world: World, who: 'first' | 'next', done: string[]): Promise<Host> {
  const agent: SessionAgent = {
    async run({ turnId, input: [part], callTool }) {
      done.push(`${who} runs ${part?.text}`)
      for (const nth of [1, 2]) await callTool({ callId: `${turnId}/${nth}`, name: 'deploy', arguments: {} })
    },
  }
  const over = closedGate()
  const host = await world.host({ agent, ...(who === 'next' ? { clock: afterALease() } : {}) })
  host.ctx.tools.register(
    defineTool({
      name: 'deploy',
      description: 'Deploys.',
      parameters: z.object({}),
      execute: () => {
        done.push(`${who} deploys`)
        return who === 'first' ? over.passed.then(() => 'done') : 'done'
      },
    }),
  )
  onTestFinished(() => over.open())
  return host
}

async function running() {
  const world = worldOn('memory')
  const done: string[] = []
  const first = await hostIn(world, 'first', done)
  const one = await first.client()
  const sessionId = await startSession(one)
  const turnId = await startTurn(one, sessionId, 'one')
  await one.told('item/started')
  return { world, done, first, one, sessionId, turnId }
}

describe('a turn that was stopped, and whose host is gone before it had ended', () => {
  test('is ended by the next host, without its agent', async () => {
    const { world, done, first, one, sessionId, turnId } = await running()
    const ack = await one.command('turn/interrupt', { sessionId, turnId })
    first.stalled.stall()
    const next = await hostIn(world, 'next', done)
    const two = await next.client()
    await two.command('session/resume', { sessionId })
    expect(await two.command('turn/interrupt', { sessionId, turnId, commandId: ack['commandId'] })).toEqual(
      ack,
    )
    expect(await two.told('turn/completed')).toMatchObject({
      turnId,
      terminal: 'cancelled',
      reason: 'interrupted by the client',
    })
    expect(done).toEqual(['first runs one', 'first deploys'])
    const view = await viewOf(two, sessionId)
    expect(view.slice(-2)).toMatchObject([
      { method: 'item/completed', params: { item: { tool: 'deploy', status: 'cancelled' } } },
      { method: 'turn/completed' },
    ])
    expect(await two.call('session/read', { sessionId })).toMatchObject({ session: { status: 'idle' } })
  })

  test('is ended by a host that adopts, without a client', async () => {
    const { world, done, first, one, sessionId, turnId } = await running()
    await one.command('turn/interrupt', { sessionId, turnId })
    first.stalled.stall()
    const agent: SessionAgent = { run: () => void done.push('next runs') }
    const next = await world.host({ agent, clock: afterALease(), adopt: true })
    const two = await next.client()
    await expect
      .poll(async () => (await two.call('session/read', { sessionId }))['lastTurn'])
      .toMatchObject({ turnId, terminal: 'cancelled' })
    expect(done).toEqual(['first runs one', 'first deploys'])
  })

  test('makes way for the turn that replaces it, before those that waited', async () => {
    const { world, done, first, one, sessionId, turnId } = await running()
    await startTurn(one, sessionId, 'two')
    expect(
      await one.command('turn/start', { sessionId, ...input('three'), ifBusy: 'replace' }),
    ).toMatchObject({ disposition: 'started' })
    await startTurn(one, sessionId, 'four')
    first.stalled.stall()
    const next = await hostIn(world, 'next', done)
    const two = await next.client()
    await two.command('session/resume', { sessionId, cursor: `v:${sessionId}:0` })
    await expect.poll(() => two.allTold('turn/completed').length).toBe(4)
    expect(two.allTold('turn/completed')[0]).toMatchObject({
      turnId,
      terminal: 'cancelled',
      reason: 'replaced by another turn',
    })
    expect(done.filter(line => line.includes('runs'))).toEqual([
      'first runs one',
      'next runs three',
      'next runs two',
      'next runs four',
    ])
  })

  test('keeps the order in which each replaced the one before, where several did', async () => {
    const { world, done, first, one, sessionId } = await running()
    await startTurn(one, sessionId, 'two')
    await one.command('turn/start', { sessionId, ...input('three'), ifBusy: 'replace' })
    await one.command('turn/start', { sessionId, ...input('five'), ifBusy: 'replace' })
    first.stalled.stall()
    const next = await hostIn(world, 'next', done)
    const two = await next.client()
    await two.command('session/resume', { sessionId, cursor: `v:${sessionId}:0` })
    await expect.poll(() => two.allTold('turn/completed').length).toBe(4)
    expect(done.filter(line => line.includes('runs'))).toEqual([
      'first runs one',
      'next runs five',
      'next runs three',
      'next runs two',
    ])
  })
})
