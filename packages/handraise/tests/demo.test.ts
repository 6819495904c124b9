import { expect, test } from 'vitest'
import { run } from './run-command.ts'

test('the demo without a terminal shows three questions and their scripted answers', async () => {
  const { exitCode, stdout, stderr } = await run(['demo'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  for (const text of [
    'Which database should the new service use?',
    '=> SQLite (Recommended)',
    'Which checks should run before a release?',
    '=> Lint, Tests, "and a look at the docs, please"',
    'Shall I go ahead with this plan?',
    '=> Approve',
  ]) {
    expect(stdout).toContain(text)
  }
})

test('the doctor tells what is mounted and that no terminal is here', async () => {
  const { exitCode, stdout } = await run(['doctor', '--json'])
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    versions: { node: process.versions.node, cordis: expect.any(String), handraise: expect.any(String) },
    mounted: { tools: ['ask_user_question'], provider: 'terminal' },
    surfaces: [
      { name: 'terminal', ready: false },
      { name: 'web', ready: true },
      { name: 'auto', ready: true },
    ],
  })
  const { stdout: text } = await run(['doctor'])
  expect(text).toContain('terminal: no')
  expect(text).toContain('web: yes')
})
