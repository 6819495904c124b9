import { InboxService } from '@handraise/inbox'
import { UserQuestionService } from '@handraise/user-questions'
import { systemClock } from '@handraise/user-questions/types'
import { Context } from 'cordis'
import { expect, onTestFinished, test, vi } from 'vitest'
import { pageWhenNeeded } from '../src/page-when-needed.ts'
import { fakeBrowser } from './fake-browser.ts'

test('questions in a row open one browser, and a later one that nobody looks at opens another', async () => {
  const { env, opened } = await fakeBrowser()
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const told: string[] = []
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(text => told.push(String(text)) > 0)
  let aheadMs = 0
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
  const ctx = new Context()
  onTestFinished(async () => {
    stderr.mockRestore()
    vi.unstubAllEnvs()
    await ctx.fiber.dispose()
  })
  await ctx.plugin(UserQuestionService, { clock })
  await ctx.plugin(InboxService, { clock })
  const page = pageWhenNeeded(ctx, { file: undefined, open: true })
  const url = await page(undefined)
  await Promise.all([page(undefined), page(undefined)])
  await vi.waitFor(async () => expect(await opened()).toHaveLength(1))
  aheadMs = 60_000
  await page(undefined)
  await vi.waitFor(async () => expect(await opened()).toHaveLength(2))
  expect(told).toEqual([expect.stringContaining(`answer at ${url}#token=`)])
})
