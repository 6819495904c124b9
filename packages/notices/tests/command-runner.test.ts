import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as notices from '@handraise/notices'
import { UserQuestionService, type UserQuestionError } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { aWhile, DB, linesOf, recorder, temporary, until } from './told.ts'

async function host(options: notices.NoticeOptions) {
  const ctx = new Context()
  const reported: notices.AnyNoticeError[] = []
  // The logger hands over the cause of an error as well, by itself.
  ctx.logger.exporter({
    export: ({ args }) => void reported.push(...args.filter(arg => notices.NoticeError.isInstance(arg))),
  })
  await ctx.plugin(UserQuestionService)
  const fiber = await ctx.plugin(notices, options)
  onTestFinished(() => ctx.fiber.dispose())
  ctx.userQuestions.registerProvider({
    ask: async ({ questions }) => ({ answers: questions.map(({ id }) => ({ id, selected: [] })) }),
  })
  const ask = (header = 'Database') => ctx.userQuestions.ask({ questions: [{ ...DB, header }] })
  return { ask, fiber, reported }
}

const node = (script: string): notices.NoticeCommand => ({ file: process.execPath, args: ['-e', script] })

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A command that writes its process id to a file, then hangs, with a child that hangs as well. */
async function hanging() {
  const file = join(await temporary(), 'pids')
  return {
    command: { command: `sleep 600 & echo $$ >> '${file}'; echo $! >> '${file}'; wait` },
    pids: async () => (await linesOf(file)).map(Number),
  }
}

describe('a command', () => {
  test('that is a program gets its arguments as they are, and the notice on its input', async () => {
    const file = join(await temporary(), 'told')
    const script = `require('fs').writeFileSync(process.argv[1], process.argv[2] + require('fs').readFileSync(0) + process.env.HANDRAISE_TEST)`
    process.env['HANDRAISE_TEST'] = 'untouched'
    onTestFinished(() => void delete process.env['HANDRAISE_TEST'])
    const { ask } = await host({
      command: { file: process.execPath, args: ['-e', script, file, '$(id) "'] },
    })
    await ask()
    await until(async () => expect(await linesOf(file)).toHaveLength(1))
    expect((await linesOf(file))[0]).toMatch(/^\$\(id\) "\{"event":"opened",/u)
  })

  test('is told one line, whatever the asker wrote', async () => {
    const { command, lines, told } = await recorder()
    const { ask } = await host({ command })
    await ask(`'; touch pwned; echo "$(id)\`id\`"\n{"event":"opened"}\u001b[2J`)
    await until(async () => expect(await lines()).toHaveLength(1))
    const [notice] = await told()
    expect(notice?.headers).toEqual([`'; touch pwned; echo "$(id)\`id\`" {"event":"opened"}\\u001b[2J`])
  })

  test.each<[string, notices.NoticeCommand, string]>([
    ['is missing', { file: '/does/not/exist' }, 'ENOENT'],
    ['is missing in the shell', { command: 'no-such-program-here' }, 'exited with 127: '],
    [
      'fails, with what it says',
      node('console.error("no such \\u001b[31mroom"); process.exit(3)'),
      'exited with 3: no such \\u001b[31mroom',
    ],
    ['is killed', node('process.kill(process.pid, "SIGTERM")'), 'ended by SIGTERM'],
    ['cannot be started', { file: 'null\0byte' }, 'null bytes'],
  ])('that %s is reported, and changes nothing', async (_, command, why) => {
    const { ask, reported } = await host({ command })
    expect((await ask()).answers).toHaveLength(1)
    await until(() => expect(reported).toHaveLength(1))
    expect(reported[0]).toMatchObject({ code: 'COMMAND_FAILED', message: expect.stringContaining(why) })
  })

  test('that never reads what it is told is no fault', async () => {
    const { ask, reported } = await host({ command: { command: 'exec 0<&-; true' }, text: true })
    await Promise.all(Array.from({ length: 8 }, () => ask('x'.repeat(300_000))))
    await aWhile()
    expect(reported).toEqual([])
  })

  test('that leaves something running in the background has ended', async () => {
    const pids = join(await temporary(), 'pids')
    const { ask, reported } = await host({
      command: { command: `sleep 600 & echo $! >> '${pids}'` },
      maxRunning: 1,
      timeoutMs: 60_000,
    })
    await ask()
    await ask()
    await until(async () => expect(await linesOf(pids)).toHaveLength(2))
    for (const pid of await linesOf(pids)) process.kill(Number(pid))
    expect(reported).toEqual([])
  })

  test('that hangs is killed after a time, with all it started, and reported', async () => {
    const { command, pids } = await hanging()
    const { ask, reported } = await host({ command, timeoutMs: 700 })
    const started = performance.now()
    await ask()
    expect(performance.now() - started).toBeLessThan(300)
    await until(() => expect(reported).toMatchObject([{ code: 'COMMAND_TIMED_OUT' }]))
    const left = await pids()
    expect(left).toHaveLength(2)
    await until(() => expect(left.filter(isRunning)).toEqual([]))
  })

  test('that still runs is killed when the plugin is disposed, and nobody is told of it', async () => {
    const { command, pids } = await hanging()
    const { ask, fiber, reported } = await host({ command })
    await Promise.all([ask(), ask()])
    await until(async () => expect(await pids()).toHaveLength(4))
    await fiber.dispose()
    const left = await pids()
    await until(() => expect(left.filter(isRunning)).toEqual([]))
    expect(reported).toEqual([])
    expect(process.listeners('exit').filter(({ name }) => name === 'killAll')).toEqual([])
  })
})

test('a few run at once, the others wait, and what is too much is dropped and reported', async () => {
  const directory = await temporary()
  const [log, gate] = [join(directory, 'log'), join(directory, 'gate')]
  const wait = `while [ ! -e '${gate}' ]; do sleep 0.02; done`
  const { ask, reported } = await host({
    command: { command: `echo start >> '${log}'; ${wait}; echo end >> '${log}'` },
    maxRunning: 2,
    maxWaiting: 3,
  })
  for (let index = 0; index < 7; index += 1) await ask()
  await until(async () => expect(await linesOf(log)).toEqual(['start', 'start']))
  expect(reported.map(({ code }) => code)).toEqual(['NOTICE_DROPPED', 'NOTICE_DROPPED'])
  expect(reported[0]?.message).toContain('3 notices wait')
  await writeFile(gate, '')
  await until(async () => expect((await linesOf(log)).filter(line => line === 'end')).toHaveLength(5))
})

test('an ask that is withdrawn ends as ever while its command hangs', async () => {
  const { command } = await hanging()
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  await ctx.plugin(notices, { command })
  onTestFinished(() => ctx.fiber.dispose())
  ctx.userQuestions.registerProvider({ ask: () => new Promise(() => {}) })
  const stop = new AbortController()
  const asking = ctx.userQuestions.ask({ questions: [DB], signal: stop.signal })
  stop.abort()
  const error = await asking.catch((reason: unknown) => reason as UserQuestionError)
  expect(error).toMatchObject({ code: 'ASK_ABORTED' })
})
