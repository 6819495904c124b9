import { execFileSync } from 'node:child_process'
import { appendFile, chmod, mkdir, readFile, rename, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { MemoryMedium } from '@handraise/inbox'
import { UserQuestionError } from '@handraise/user-questions'
import { askLog, AskLogError } from '@handraise/telemetry'
import { describe, expect, onTestFinished, test } from 'vitest'
import { answering, DB, host, linesOf, temporaryFile, told } from './hosts.ts'

/** The warnings of this process while the test lasts. */
function warnings(): Error[] {
  const heard: Error[] = []
  const hear = (warning: Error): void => void heard.push(warning)
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  return heard
}

const aTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

describe('without an inbox', () => {
  test('each ask is a line when it is asked and one when it has ended', async () => {
    const { ctx } = await host()
    const file = await temporaryFile()
    const log = await ctx.plugin(askLog, { to: file })
    ctx.userQuestions.registerProvider(answering)
    await ctx.userQuestions.ask({ questions: [DB], session: 's', key: 'k', timeoutMs: 60_000 })
    await log.dispose()
    const whose = { id: expect.any(String), kind: 'questions', session: 's', key: 'k' }
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u)
    expect(await linesOf(file)).toEqual([
      { event: 'asked', time, ...whose, questions: [{ id: 'db', header: 'Database' }], deadline: time },
      {
        event: 'settled',
        time,
        ...whose,
        outcome: 'answered',
        by: 'user',
        surface: 'answering',
        answers: [{ id: 'db', selected: ['Postgres'] }],
        waitedMs: expect.any(Number),
      },
    ])
  })

  test('a fault is told by its code, and as decided by nobody', async () => {
    const { ctx } = await host()
    const file = await temporaryFile()
    const log = await ctx.plugin(askLog, { to: file })
    ctx.userQuestions.registerProvider({
      name: 'broken',
      ask: () => Promise.reject(new Error('out of paper')),
    })
    await expect(ctx.userQuestions.ask({ questions: [DB] })).rejects.toThrow('out of paper')
    await log.dispose()
    const [, settled] = await linesOf(file)
    expect(settled).toMatchObject({ outcome: 'failed', code: 'PROVIDER_FAILED', answers: [] })
    expect(settled).not.toHaveProperty('by')
    expect(await readFile(file, 'utf8')).not.toContain('out of paper')
  })

  test('texts are told where they are asked for', async () => {
    const { ctx } = await host()
    const file = await temporaryFile()
    const log = await ctx.plugin(askLog, { to: file, text: true })
    const unregister = ctx.userQuestions.registerProvider({
      ask: async () => ({ answers: [{ id: 'db', selected: ['SQLite'], note: 'for now' }] }),
    })
    await ctx.userQuestions.ask({ questions: [DB] })
    unregister()
    ctx.userQuestions.registerProvider({
      ask: () => Promise.reject(new UserQuestionError('ASK_CLARIFIED', { text: 'which one is cheaper?' })),
    })
    await ctx.userQuestions.ask({ questions: [DB] }).catch(() => {})
    await log.dispose()
    expect(await linesOf(file)).toMatchObject([
      { questions: [{ question: 'Which database?', options: ['Postgres', 'SQLite'] }] },
      { answers: [{ id: 'db', selected: ['SQLite'], note: 'for now' }] },
      { event: 'asked' },
      { outcome: 'clarified', by: 'user', text: 'which one is cheaper?' },
    ])
  })

  test('what somebody typed is left out, and that they did is told', async () => {
    const { ctx } = await host()
    const file = await temporaryFile()
    const log = await ctx.plugin(askLog, { to: file })
    ctx.userQuestions.registerProvider({
      ask: async () => ({ answers: [{ id: 'db', selected: [], custom: 'my own' }] }),
    })
    await ctx.userQuestions.ask({ questions: [DB] })
    await log.dispose()
    expect((await linesOf(file))[1]).toMatchObject({ answers: [{ id: 'db', selected: [], typed: true }] })
  })
})

describe('a file', () => {
  test('that is made is its owner’s alone, and is added to', async () => {
    const file = await temporaryFile()
    const { ctx } = await host()
    await ctx.plugin(askLog, { to: file })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const other = await temporaryFile()
    await writeFile(other, 'here before\n')
    await chmod(other, 0o640)
    const second = await host()
    second.ctx.userQuestions.registerProvider(answering)
    const log = await second.ctx.plugin(askLog, { to: other })
    await second.ctx.userQuestions.ask({ questions: [DB] })
    await log.dispose()
    expect((await readFile(other, 'utf8')).split('\n')).toMatchObject({ 0: 'here before', length: 4 })
    expect((await stat(other)).mode & 0o777).toBe(0o640)
  })

  test('that cannot be written is refused when the plugin is mounted', async () => {
    const { ctx } = await host()
    const refused: unknown = await ctx
      .plugin(askLog, { to: '/no/such/directory/asks.jsonl' })
      .then(undefined, (error: unknown) => error)
    expect(AskLogError.isInstance(refused) && refused.code).toBe('LOG_UNUSABLE')
  })

  test('that nobody reads, a named pipe, holds nothing up', async () => {
    const pipe = await temporaryFile('pipe')
    execFileSync('mkfifo', [pipe])
    const { ctx } = await host()
    await expect(ctx.plugin(askLog, { to: pipe })).rejects.toThrow('cannot be written')
  })

  test('that is full is told of once, and every answer is given', async () => {
    const heard = warnings()
    const { ctx, reported } = await host()
    const log = await ctx.plugin(askLog, { to: '/dev/full' })
    ctx.userQuestions.registerProvider(answering)
    for (let index = 0; index < 3; index += 1)
      expect(await ctx.userQuestions.ask({ questions: [DB] })).toMatchObject({ answers: [{ id: 'db' }] })
    await log.dispose()
    await aTurn()
    expect(heard).toMatchObject([
      { name: 'AskLogError', code: 'LOG_FAILED' },
      { name: 'AskLogError', code: 'LOG_LOST', details: { lines: 6 } },
    ])
    expect(reported).toEqual([])
  })

  test('that was moved away is made anew', async () => {
    const file = await temporaryFile()
    const { ctx } = await host()
    const log = await ctx.plugin(askLog, { to: file })
    ctx.userQuestions.registerProvider(answering)
    await rename(file, `${file}.1`)
    await ctx.userQuestions.ask({ questions: [DB] })
    await log.dispose()
    expect(await linesOf(file)).toHaveLength(2)
    expect(await readFile(`${file}.1`, 'utf8')).toBe('')
  })

  test('that cannot be read back is refused when the plugin is mounted', async () => {
    const file = await temporaryFile()
    await writeFile(file, '')
    await chmod(file, 0o222)
    await chmod(dirname(file), 0o755)
    const { ctx } = await host()
    // Root reads whatever it likes.
    const before = process.geteuid?.()
    if (before === 0) process.seteuid?.(65_534)
    try {
      await expect(ctx.plugin(askLog, { to: file })).rejects.toMatchObject({
        code: 'LOG_UNUSABLE',
        message: expect.stringContaining('it is read back'),
      })
    } finally {
      if (before === 0) process.seteuid?.(0)
    }
  })

  test('that cannot be written for a while has every line once it can, in order', async () => {
    const file = await temporaryFile()
    const { ctx } = await host()
    const log = await ctx.plugin(askLog, { to: file })
    ctx.userQuestions.registerProvider(answering)
    await rename(file, `${file}.1`)
    await mkdir(file)
    for (const key of ['a', 'b']) await ctx.userQuestions.ask({ questions: [DB], key })
    await rmdir(file)
    await ctx.userQuestions.ask({ questions: [DB], key: 'c' })
    await log.dispose()
    expect(told(await linesOf(file))).toEqual(
      ['a', 'b', 'c'].flatMap(key => [`asked ${key}`, `settled ${key}`]),
    )
  })

  test('that cannot be written for too long has a gap where lines were left out', async () => {
    const file = await temporaryFile()
    const { ctx } = await host()
    const log = await ctx.plugin(askLog, { to: file, text: true })
    ctx.userQuestions.registerProvider(answering)
    await rename(file, `${file}.1`)
    await mkdir(file)
    const detail = 'x'.repeat(1024 * 1024)
    for (let index = 0; index < 20; index += 1)
      await ctx.userQuestions.ask({ questions: [{ ...DB, detail }], key: String(index) })
    await rmdir(file)
    await log.dispose()
    const lines = told(await linesOf(file))
    expect(lines.slice(0, 3)).toEqual(['asked 0', 'settled 0', 'asked 1'])
    expect(lines.filter(line => line === 'gap').length).toBeGreaterThan(0)
    expect(lines).not.toContain('asked 19')
  })

  test('that ends in half a line goes on with a line of its own', async () => {
    const file = await temporaryFile()
    await appendFile(file, '{"event":"set')
    const { ctx } = await host()
    const log = await ctx.plugin(askLog, { to: file })
    ctx.userQuestions.registerProvider(answering)
    await ctx.userQuestions.ask({ questions: [DB] })
    await log.dispose()
    expect((await readFile(file, 'utf8')).split('\n').map(line => line.slice(0, 16))).toEqual([
      '{"event":"set',
      '{"event":"asked"',
      '{"event":"settle',
      '',
    ])
  })
})

describe('a stream', () => {
  test('takes the lines, without the place that a file keeps', async () => {
    const stream = new PassThrough()
    const { ctx } = await host()
    const log = await ctx.plugin(askLog, { to: stream })
    ctx.userQuestions.registerProvider(answering)
    await ctx.userQuestions.ask({ questions: [DB] })
    await log.dispose()
    const lines = String(stream.read()).trimEnd().split('\n')
    expect(lines.map(line => (JSON.parse(line) as { event: string }).event)).toEqual(['asked', 'settled'])
    expect(stream.listenerCount('error')).toBe(0)
  })

  test.each([
    ['the seam alone', undefined],
    ['an inbox', new MemoryMedium()],
  ])('that takes nothing holds up nobody, and what is lost is told: %s', async (_, kept) => {
    const heard = warnings()
    const { ctx } = await host(kept)
    const log = await ctx.plugin(askLog, { to: new Writable({ write() {} }) })
    ctx.userQuestions.registerProvider(answering)
    await expect(ctx.userQuestions.ask({ questions: [DB] })).resolves.toMatchObject({
      answers: [{ id: 'db' }],
    })
    await log.dispose()
    await aTurn()
    expect(heard).toMatchObject([{ code: 'LOG_LOST', details: { file: 'stream' } }])
  })

  test('takes all lines at once that came while it was busy', async () => {
    const writes: string[] = []
    const stream = new Writable({
      decodeStrings: false,
      write(text: string, _, done) {
        writes.push(text)
        setImmediate(done)
      },
    })
    const { ctx } = await host()
    const log = await ctx.plugin(askLog, { to: stream })
    ctx.userQuestions.registerProvider(answering)
    await Promise.all(Array.from({ length: 50 }, () => ctx.userQuestions.ask({ questions: [DB] })))
    await log.dispose()
    expect(writes.join('').trimEnd().split('\n')).toHaveLength(100)
    expect(writes.length).toBeLessThan(50)
  })

  test('that has gone is told of once, and ends nothing', async () => {
    const heard = warnings()
    const stream = new PassThrough()
    stream.destroy()
    const { ctx } = await host()
    await ctx.plugin(askLog, { to: stream })
    ctx.userQuestions.registerProvider(answering)
    await ctx.userQuestions.ask({ questions: [DB] })
    await expect(ctx.userQuestions.ask({ questions: [DB] })).resolves.toBeDefined()
    await aTurn()
    expect(heard).toHaveLength(1)
  })
})

test('controls in what an asker wrote are written out, and mean the same', async () => {
  const { ctx } = await host()
  const file = await temporaryFile()
  const log = await ctx.plugin(askLog, { to: file })
  ctx.userQuestions.registerProvider(answering)
  const header = 'a\u001b[31m\u202e\u2028\u009b\u{e0041}b'
  await ctx.userQuestions.ask({ questions: [{ ...DB, header }] })
  await log.dispose()
  expect(await readFile(file, 'utf8')).toMatch(/^[\n\u0020-\u007e]*$/u)
  expect((await linesOf(file))[0]).toMatchObject({ questions: [{ header }] })
})

test('a plugin that is disposed says nothing more', async () => {
  const { ctx } = await host()
  const file = await temporaryFile()
  const log = await ctx.plugin(askLog, { to: file })
  await log.dispose()
  ctx.userQuestions.registerProvider(answering)
  await ctx.userQuestions.ask({ questions: [DB] })
  expect(await readFile(file, 'utf8')).toBe('')
})
