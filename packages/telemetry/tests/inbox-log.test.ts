import {
  appendFile,
  mkdir,
  open as openFile,
  readFile,
  rename,
  rmdir,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MemoryMedium, MemoryStore } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { askLog, type LogLine } from '@handraise/telemetry'
import { UserApprovalService } from '@handraise/user-approvals'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { answering, DB, host, linesOf, temporaryFile, told, until } from './hosts.ts'

const command = (surface = 'web') => ({ commandId: crypto.randomUUID(), surface })
const answer = { outcome: 'answered', answer: { answers: [{ id: 'db', selected: ['SQLite'] }] } } as const

/** Asks under a key, for nobody to wait for. */
async function open(ctx: Awaited<ReturnType<typeof host>>['ctx'], key: string): Promise<string> {
  const payload = { questions: [{ id: 'db', question: 'Which?', options: [{ label: 'SQLite' }] }] }
  return (await ctx.inbox.core.open({ kind: 'questions', payload, key, agent: 'main' })).request.id
}

describe('each opening and each settlement is a line', () => {
  test('with who settled it, and from where', async () => {
    const { ctx } = await host(new MemoryMedium())
    const file = await temporaryFile()
    const log = await ctx.plugin(askLog, { to: file })
    const id = await open(ctx, 'k')
    await ctx.inbox.core.engage(id)
    await ctx.inbox.core.decide(id, answer, command())
    await log.dispose()
    const whose = { id, kind: 'questions', key: 'k', agent: 'main' }
    expect(await linesOf(file)).toMatchObject([
      { event: 'started' },
      { event: 'asked', ...whose, questions: [{ id: 'db' }] },
      { event: 'settled', ...whose, outcome: 'answered', by: 'user', surface: 'web' },
    ])
  })

  test('and the seam says nothing of its own', async () => {
    const { ctx } = await host(new MemoryMedium())
    const file = await temporaryFile()
    const log = await ctx.plugin(askLog, { to: file })
    ctx.userQuestions.registerProvider(answering)
    await ctx.userQuestions.ask({ questions: [DB], key: 'k' })
    await log.dispose()
    expect(told(await linesOf(file))).toEqual(['started', 'asked k', 'settled k'])
    expect((await linesOf(file))[2]).toMatchObject({ surface: 'answering', by: 'user' })
  })

  test('however many come at once', async () => {
    const { ctx } = await host(new MemoryMedium())
    const file = await temporaryFile()
    const log = await ctx.plugin(askLog, { to: file })
    const keys = Array.from({ length: 500 }, (_, index) => String(index))
    await Promise.all(keys.map(async key => ctx.inbox.core.decide(await open(ctx, key), answer, command())))
    await log.dispose()
    const lines = told(await linesOf(file))
    expect(lines).toHaveLength(1 + 2 * keys.length)
    expect(new Set(lines).size).toBe(lines.length)
  })

  test('also of a kind that is not known here, without what it holds', async () => {
    const { ctx } = await host(new MemoryMedium())
    const file = await temporaryFile()
    const log = await ctx.plugin(askLog, { to: file, text: true })
    await ctx.inbox.core.open({ kind: 'odd', payload: { secret: 'hidden' } })
    await log.dispose()
    expect((await linesOf(file))[1]).toMatchObject({ event: 'asked', kind: 'odd', questions: [] })
    expect(await readFile(file, 'utf8')).not.toContain('hidden')
  })
})

test.each(['memory', 'sqlite'])('all that happened is written when a host goes at once: %s', async kind => {
  const file = await temporaryFile()
  const kept =
    kind === 'memory' ? new MemoryMedium() : await openSqliteStore({ file: join(dirname(file), 'inbox.db') })
  const { ctx } = await host(kept)
  await ctx.plugin(askLog, { to: file })
  ctx.userQuestions.registerProvider(answering)
  const keys = ['a', 'b', 'c']
  for (const key of keys) await ctx.userQuestions.ask({ questions: [DB], key })
  await ctx.fiber.dispose()
  expect(told(await linesOf(file))).toEqual([
    'started',
    ...keys.flatMap(key => [`asked ${key}`, `settled ${key}`]),
  ])
})

describe('after a restart', () => {
  test('it goes on after the last line, with what happened meanwhile', async () => {
    const medium = new MemoryMedium()
    const file = await temporaryFile()
    const first = await host(medium)
    await first.ctx.plugin(askLog, { to: file })
    const id = await open(first.ctx, 'a')
    await until(async () => expect(await linesOf(file)).toHaveLength(2))
    await first.ctx.fiber.dispose()

    // A host without a log.
    const between = await host(medium)
    await between.ctx.inbox.core.decide(id, answer, command('terminal'))
    await open(between.ctx, 'b')
    await between.ctx.fiber.dispose()

    const back = await host(medium)
    const log = await back.ctx.plugin(askLog, { to: file })
    await open(back.ctx, 'c')
    await log.dispose()
    expect(told(await linesOf(file))).toEqual(['started', 'asked a', 'settled a', 'asked b', 'asked c'])
  })

  test('what a host settles as it goes is there when it is back', async () => {
    const medium = new MemoryMedium()
    const file = await temporaryFile()
    const { ctx } = await host(medium)
    await ctx.plugin(askLog, { to: file })
    await ctx.inbox.core.open({ kind: 'questions', payload: { questions: [] } })
    await ctx.fiber.dispose()
    await (await host(medium)).ctx.plugin(askLog, { to: file })
    await until(async () =>
      expect(await linesOf(file)).toMatchObject([
        {},
        { event: 'asked' },
        { event: 'settled', outcome: 'aborted' },
      ]),
    )
  })

  test('lines that were lost from its end are written again, and none twice', async () => {
    const medium = new MemoryMedium()
    const file = await temporaryFile()
    const { ctx } = await host(medium)
    const log = await ctx.plugin(askLog, { to: file })
    for (const key of ['a', 'b', 'c']) await open(ctx, key)
    await log.dispose()
    const whole = await readFile(file, 'utf8')
    const cuts = [1, 20, 150, 300, 500].map(cut => whole.slice(0, -cut))
    for (const cut of cuts) {
      await writeFile(file, cut)
      await (await ctx.plugin(askLog, { to: file })).dispose()
      const lines = (await readFile(file, 'utf8')).split('\n')
      const readable = lines.flatMap(line => {
        try {
          return [JSON.parse(line) as LogLine]
        } catch {
          return []
        }
      })
      expect(told(readable)).toEqual(['started', 'asked a', 'asked b', 'asked c'])
    }
  })

  test('lines of others in the same file do not lead astray', async () => {
    const medium = new MemoryMedium()
    const file = await temporaryFile()
    const { ctx } = await host(medium)
    await (await ctx.plugin(askLog, { to: file })).dispose()
    await open(ctx, 'a')
    // More than is read.
    await appendFile(file, `${JSON.stringify({ event: 'asked', id: 'x'.repeat(1_000) })}\n`.repeat(1_200))
    const other = await host(new MemoryMedium())
    await open(other.ctx, 'x')
    await (await other.ctx.plugin(askLog, { to: file })).dispose()
    await (await ctx.plugin(askLog, { to: file })).dispose()
    expect(told(await linesOf(file)).filter(line => line.length < 100)).toEqual([
      'started',
      'started',
      'asked a',
    ])
  })

  test('it goes on in a file of another name, for a log is known by its lines', async () => {
    const medium = new MemoryMedium()
    const file = await temporaryFile()
    const { ctx } = await host(medium)
    await (await ctx.plugin(askLog, { to: file })).dispose()
    await open(ctx, 'a')
    await rename(file, `${file}.moved`)
    await (await ctx.plugin(askLog, { to: `${file}.moved` })).dispose()
    expect(told(await linesOf(`${file}.moved`))).toEqual(['started', 'asked a'])
  })

  test('it goes on where it was though its file was moved away meanwhile', async () => {
    const medium = new MemoryMedium()
    const file = await temporaryFile()
    const first = await host(medium)
    const log = await first.ctx.plugin(askLog, { to: file })
    await open(first.ctx, 'a')
    await until(async () => expect(await linesOf(file)).toHaveLength(2))
    await rename(file, `${file}.1`)
    await log.dispose()
    await open(first.ctx, 'b')
    const second = await host(medium)
    await (await second.ctx.plugin(askLog, { to: file })).dispose()
    expect(told(await linesOf(file))).toEqual(['asked b'])
  })

  test('a file with hardly a line end is not read to its beginning', async () => {
    const medium = new MemoryMedium()
    const file = await temporaryFile()
    const { ctx } = await host(medium)
    await (await ctx.plugin(askLog, { to: file })).dispose()
    await open(ctx, 'a')
    await truncate(file, 256 * 1024 * 1024)
    await (await ctx.plugin(askLog, { to: file })).dispose()
    const handle = await openFile(file)
    onTestFinished(() => handle.close())
    const { size } = await handle.stat()
    const { buffer } = await handle.read({ buffer: Buffer.alloc(1_000), position: size - 1_000 })
    expect(buffer.toString().replaceAll('\0', '')).toMatch(/^\n\{"event":"asked"[^\n]+"key":"a"[^\n]+\n$/u)
  })

  test('what was forgotten meanwhile is a gap', async () => {
    const medium = new MemoryMedium()
    const file = await temporaryFile()
    const { ctx } = await host(medium)
    await (await ctx.plugin(askLog, { to: file })).dispose()
    await ctx.inbox.core.decide(await open(ctx, 'a'), answer, command())
    await ctx.inbox.core.store.prune(Date.now() + 1)
    const log = await ctx.plugin(askLog, { to: file })
    await open(ctx, 'b')
    await log.dispose()
    expect(told(await linesOf(file))).toEqual(['started', 'gap', 'asked b'])
  })
})

describe('hosts that share an inbox and a file', () => {
  test('write each line once, and the one that stays writes on', async () => {
    const file = await temporaryFile()
    const database = join(dirname(file), 'inbox.db')
    const hosts = []
    for (let index = 0; index < 3; index += 1) {
      const { ctx } = await host(await openSqliteStore({ file: database }))
      hosts.push({ ctx, log: await ctx.plugin(askLog, { to: file }) })
    }
    for (const [index, { ctx }] of hosts.entries()) await open(ctx, `before ${index}`)
    await until(async () => expect(await linesOf(file)).toHaveLength(4))
    await hosts[0]!.log.dispose()
    await open(hosts[0]!.ctx, 'after')
    await hosts[1]!.ctx.fiber.dispose()
    await hosts[2]!.log.dispose()
    const lines = told(await linesOf(file))
    expect(lines.toSorted()).toEqual([
      'asked after',
      'asked before 0',
      'asked before 1',
      'asked before 2',
      'started',
    ])
  })
})

describe('a log that cannot be written for a while', () => {
  test('has every line once it can, and nobody was kept waiting', async () => {
    const medium = new MemoryMedium()
    const file = await temporaryFile()
    const name = `${file}.link`
    const pointTo = async (target: string): Promise<void> => {
      await symlink(target, `${name}.new`)
      await rename(`${name}.new`, name)
    }
    await pointTo(file)
    const { ctx, reported } = await host(medium)
    const log = await ctx.plugin(askLog, { to: name })
    await pointTo(dirname(file))
    const id = await open(ctx, 'a')
    await ctx.inbox.core.decide(id, answer, command())
    await pointTo(file)
    await open(ctx, 'b')
    await log.dispose()
    expect(told(await linesOf(file))).toEqual(['started', 'asked a', 'settled a', 'asked b'])
    expect(reported).toEqual([])
  })

  test('has what a rule decided meanwhile, too', async () => {
    const file = await temporaryFile()
    const { ctx } = await host(new MemoryMedium())
    await ctx.plugin(UserApprovalService)
    const log = await ctx.plugin(askLog, { to: file })
    await ctx.userApprovals.setMode('', 'denyUnmatched')
    const remove = (toolName: string) =>
      ctx.userApprovals.request({ toolName, subject: { kind: 'fileAccess', access: 'delete', path: '/x' } })
    await until(async () => expect(await linesOf(file)).toHaveLength(1))
    await rename(file, `${file}.1`)
    await mkdir(file)
    await remove('first')
    await remove('second')
    await rmdir(file)
    await log.dispose()
    expect(await linesOf(file)).toMatchObject([{ tool: 'first' }, { tool: 'second' }])
  })

  test('changes nothing where the store fails', async () => {
    const store = new MemoryStore(new MemoryMedium())
    const { ctx } = await host(store)
    const file = await temporaryFile()
    await ctx.plugin(askLog, { to: file })
    store.since = () => Promise.reject(new Error('away'))
    const id = await open(ctx, 'a').catch(() => '')
    expect((await ctx.inbox.core.decide(id, answer, command())).request.settlement.outcome).toBe('answered')
  })
})

describe('approvals', () => {
  async function approving(text = false) {
    const { ctx } = await host(new MemoryMedium())
    await ctx.plugin(UserApprovalService)
    const file = await temporaryFile()
    const log = await ctx.plugin(askLog, { to: file, text })
    const asking = ctx.userApprovals.request({
      toolName: 'shell',
      subject: { kind: 'shell', command: 'rm -rf build', cwd: '/srv' },
      session: 's',
    })
    return { ctx, file, log, asking }
  }

  test.each([
    [false, { id: 'approval', selected: [expect.any(String)], typed: true }],
    [true, { id: 'approval', selected: [expect.any(String)], note: 'not on a Friday' }],
  ])('are logged with the choice, and with words and subject only as texts: %s', async (text, logged) => {
    const { ctx, file, log, asking } = await approving(text)
    const { core } = ctx.inbox
    await until(async () => expect((await core.list({ state: 'pending' })).requests).toHaveLength(1))
    const [request] = (await core.list({ state: 'pending' })).requests
    const words = [{ id: 'approval', selected: [], custom: 'not on a Friday' }]
    const denial = core.kindOf(request!)!.fromAnswers(request!.payload, words)
    await core.decide(request!.id, { outcome: 'answered', answer: denial }, command())
    expect(await asking).toMatchObject({ outcome: 'decided', policyResult: 'deny' })
    await log.dispose()
    expect(await linesOf(file)).toMatchObject([
      {},
      { event: 'asked', kind: 'approval', session: 's', questions: [{ id: 'approval' }] },
      {
        event: 'settled',
        kind: 'approval',
        outcome: 'answered',
        by: 'user',
        surface: 'web',
        answers: [logged],
      },
    ])
    const written = await readFile(file, 'utf8')
    expect([written.includes('not on a Friday'), written.includes('rm -rf')]).toEqual([text, text])
  })

  test('that a mode decides are told, though nobody was asked', async () => {
    const { ctx, file, log, asking } = await approving()
    asking.catch(() => {})
    await ctx.userApprovals.setMode('quiet', 'denyUnmatched')
    await ctx.userApprovals.request({
      toolName: 'remove',
      subject: { kind: 'fileAccess', access: 'delete', path: '/tmp/some-path' },
      session: 'quiet',
    })
    await log.dispose()
    const ruled = (await linesOf(file)).filter(({ event }) => event === 'ruled')
    expect(ruled).toMatchObject([{ tool: 'remove', decision: 'denied', session: 'quiet', kind: 'approval' }])
    expect(await readFile(file, 'utf8')).not.toContain('some-path')
  })
})

test('nothing that was asked or typed is in a log without texts, whatever it is', async () => {
  const { ctx } = await host(new MemoryMedium())
  const file = await temporaryFile()
  const log = await ctx.plugin(askLog, { to: file })
  const { core } = ctx.inbox
  // No part of anything that is logged looks like it.
  const typed = fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }).map(text => `«${text}»`)
  const texts = new Set<string>()
  const decisions = (text: string) =>
    [
      { outcome: 'answered', answer: { answers: [{ id: 'q', selected: [], custom: text }] } },
      { outcome: 'answered', answer: { answers: [{ id: 'q', selected: ['yes'], note: text }] } },
      { outcome: 'clarified', text },
      { outcome: 'declined', reason: text },
      { outcome: 'cancelled', reason: text, answer: { answers: [{ id: 'q', selected: [], custom: text }] } },
      { outcome: 'interrupted', reason: text },
    ] as const
  await fc.assert(
    fc.asyncProperty(typed, typed, fc.nat(5), async (question, text, which) => {
      texts.add(question).add(text)
      const asked = { id: 'q', question, detail: question, options: [{ label: 'yes' }] }
      const { request } = await core.open({ kind: 'questions', payload: { questions: [asked] } })
      await core.decide(request.id, decisions(text)[which]!, command())
    }),
    { numRuns: 100 },
  )
  await log.dispose()
  expect(await linesOf(file)).toHaveLength(201)
  const written = await readFile(file, 'utf8')
  const said = JSON.stringify(await linesOf(file))
  expect(written).not.toContain('«')
  expect([...texts].filter(text => said.includes(JSON.stringify(text).slice(1, -1)))).toEqual([])
})
