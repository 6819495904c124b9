import { MemoryMedium } from '@handraise/inbox'
import { ToolService, defineTool } from '@handraise/tools'
import { Context } from 'cordis'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { startHost } from './host.ts'

async function startTools(medium?: MemoryMedium) {
  const host = await startHost(medium === undefined ? {} : { medium })
  const execute = vi.fn(({ path }: { path: string }) => `wrote ${path}`)
  host.ctx.tools.register(writeFile(execute))
  const call = (path: string, callId = 'call-1', more: object = {}) =>
    host.ctx.tools.execute({
      callId,
      name: 'write_file',
      arguments: { path },
      session: 's1',
      signal: new AbortController().signal,
      ...more,
    })
  return { ...host, execute, call }
}

const writeFile = (execute: (args: { path: string }) => string) =>
  defineTool({
    name: 'write_file',
    description: 'Writes a file.',
    parameters: z.object({ path: z.string() }),
    permission: ({ path }) =>
      path === '/tmp/free'
        ? undefined
        : { subject: { kind: 'fileAccess', access: 'write', path }, reason: 'to try' },
    execute,
  })

test('a marked tool runs once it is allowed', async () => {
  const { call, decide, execute } = await startTools()
  const result = call('/tmp/a')
  await decide('allow_once')
  expect(await result).toMatchObject({ isError: false, value: 'wrote /tmp/a' })
  expect(execute).toHaveBeenCalledOnce()
})

test('a denial is a normal result that says what was not done, in the words of the user', async () => {
  const { call, decide, execute } = await startTools()
  const result = call('/tmp/a')
  await decide('deny_feedback', 'Do not modify the manifest')
  expect(await result).toMatchObject({
    isError: false,
    content: expect.stringMatching(
      /denied by the user: write_file: write \/tmp\/a.*not done.*Do not modify the manifest/u,
    ),
  })
  expect(execute).not.toHaveBeenCalled()
})

test('that nobody decided is an error, and no denial', async () => {
  const { call, waiting, inbox, execute } = await startTools()
  const controller = new AbortController()
  const aborted = call('/tmp/a', 'call-1', { signal: controller.signal })
  await waiting()
  controller.abort(new Error('stopped'))
  expect(await aborted).toMatchObject({ isError: true, error: { code: 'APPROVAL_ABORTED' } })
  const cancelled = call('/tmp/b', 'call-2')
  const { id } = await waiting()
  await inbox.decide(id, { outcome: 'cancelled' }, { commandId: 'c', surface: 'web' })
  expect(await cancelled).toMatchObject({ isError: true, error: { code: 'APPROVAL_CANCELLED' } })
  for (const result of [await aborted, await cancelled])
    expect(result.content).toContain('nobody has denied it')
  expect(execute).not.toHaveBeenCalled()
})

test('a call that needs none is not asked about', async () => {
  const { call, inbox } = await startTools()
  expect(await call('/tmp/free')).toMatchObject({ isError: false })
  expect((await inbox.list({ state: 'settled' })).requests).toEqual([])
})

test('a call that ran is not run again when it is resumed, in this process or after it', async () => {
  const medium = new MemoryMedium()
  const { call, decide, execute, fiber } = await startTools(medium)
  const result = call('/tmp/a')
  await decide('allow_once')
  await result
  expect(await call('/tmp/a')).toMatchObject({ isError: true, error: { code: 'APPROVAL_USED' } })
  expect(execute).toHaveBeenCalledOnce()
  await fiber.dispose()
  const after = await startTools(medium)
  expect(await after.call('/tmp/a')).toMatchObject({ isError: true, error: { code: 'APPROVAL_USED' } })
  expect(after.execute).not.toHaveBeenCalled()
})

test('a tool that says something that is no subject is not run', async () => {
  const { ctx } = await startHost()
  const execute = vi.fn(() => 'ran')
  ctx.tools.register(
    defineTool({
      name: 'odd',
      description: '',
      parameters: z.object({}),
      permission: () => ({ subject: 'all' }),
      execute,
    }),
  )
  const result = await ctx.tools.execute({
    callId: 'c',
    name: 'odd',
    arguments: {},
    signal: new AbortController().signal,
  })
  expect(result).toMatchObject({ isError: true, error: { code: 'BAD_APPROVAL' } })
  expect(execute).not.toHaveBeenCalled()
})

test('a marked tool does not run where nobody guards it', async () => {
  const ctx = new Context()
  await ctx.plugin(ToolService)
  const execute = vi.fn(({ path }: { path: string }) => path)
  ctx.tools.register(writeFile(execute))
  const result = await ctx.tools.execute({
    callId: 'c',
    name: 'write_file',
    arguments: { path: '/tmp/a' },
    signal: new AbortController().signal,
  })
  expect(result).toMatchObject({ isError: true, error: { code: 'NO_GUARD' } })
  expect(execute).not.toHaveBeenCalled()
})

test.each(['a rule', 'a mode'])(
  'a call that %s allows runs once as well, however often it is resumed',
  async how => {
    const { ctx, call, decide, execute } = await startTools()
    if (how === 'a rule') {
      const first = call('/tmp/a', 'call-0')
      await decide('allow_session')
      await first
      execute.mockClear()
    } else await ctx.userApprovals.setMode('s1', 'allowAll')
    expect(await call('/tmp/a', 'call-1')).toMatchObject({ isError: false, value: 'wrote /tmp/a' })
    expect(await call('/tmp/a', 'call-1')).toMatchObject({ isError: true, error: { code: 'APPROVAL_USED' } })
    expect(await call('/tmp/a', 'call-2')).toMatchObject({ isError: false })
    expect(execute).toHaveBeenCalledTimes(2)
  },
)
