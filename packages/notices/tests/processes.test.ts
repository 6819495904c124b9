import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { InboxService } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import * as notices from '@handraise/notices'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { expect, onTestFinished, test } from 'vitest'
import { FakeTerminal } from './fake-terminal.ts'
import { aWhile, DB, recorder, temporary, until } from './told.ts'

async function host(file: string, options: notices.NoticeOptions) {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  await ctx.plugin(InboxService, { store: await openSqliteStore({ file }) })
  await ctx.plugin(notices, options)
  onTestFinished(() => ctx.fiber.dispose())
  return ctx
}

test('inboxes over one database tell a command once for each request, and ring in each terminal', async () => {
  const file = join(await temporary(), 'inbox.db')
  const { command, told } = await recorder()
  const bells = [new FakeTerminal(), new FakeTerminal(), new FakeTerminal()]
  const hosts = await Promise.all(bells.map(bell => host(file, { bell, command })))
  const sessions = Array.from({ length: 12 }, (_, index) => String(index))
  for (const [index, session] of sessions.entries()) {
    const asking = hosts[index % hosts.length]!.userQuestions.ask({ questions: [DB], key: 'k', session })
    asking.catch(() => {})
  }
  await until(async () => expect(await told()).toHaveLength(sessions.length))
  await aWhile()
  expect(await told()).toHaveLength(sessions.length)
  expect(new Set((await told()).map(({ session }) => session))).toEqual(new Set(sessions))
  await until(() => expect(bells.map(({ written }) => written.length > 0)).toEqual([true, true, true]))
})

test('different commands over one database are each told', async () => {
  const file = join(await temporary(), 'inbox.db')
  const [one, other] = [await recorder(), await recorder()]
  const ctx = await host(file, { command: one.command })
  await host(file, { command: other.command })
  ctx.userQuestions.ask({ questions: [DB] }).catch(() => {})
  await until(async () => expect([await one.told(), await other.told()]).toMatchObject([[{}], [{}]]))
})

test('processes over one database tell a command once, also of what only one of them asks', async () => {
  const file = join(await temporary(), 'inbox.db')
  const { command, told } = await recorder()
  // The first makes the file.
  const asker = await start(file, command)
  const watchers = await Promise.all([start(file, command), start(file, command)])
  asker.send('ask')
  await until(async () => expect(await told()).toHaveLength(1))
  watchers[0]?.send('ask')
  await until(async () => expect(await told()).toHaveLength(2))
  await aWhile()
  expect(new Set((await told()).map(({ id }) => id)).size).toBe(2)
})

async function start(file: string, command: notices.NoticeCommand): Promise<ChildProcess> {
  // Without the flags of this process, which take packages from their sources.
  const child = fork(new URL('./host-process.mjs', import.meta.url), [file, JSON.stringify(command)], {
    execArgv: [],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'message')
  return child
}
