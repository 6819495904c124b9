import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { autoProvider, recordingProvider, replayProvider } from '@handraise/provider-auto'
import {
  UserQuestionError,
  UserQuestionService,
  type Question,
  type UserQuestionProvider,
} from '@handraise/user-questions'
import { Context } from 'cordis'
import { afterEach, beforeEach, expect, test } from 'vitest'

const DB: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}

let directory: string
let file: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handraise-recording-'))
  file = join(directory, 'recording.jsonl')
})

afterEach(() => rm(directory, { recursive: true }))

async function through(provider: UserQuestionProvider) {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  ctx.userQuestions.registerProvider(provider)
  return (...questions: Question[]) => ctx.userQuestions.ask({ questions })
}

test('a recording answers the same questions again, each as often as it was asked', async () => {
  let turn = 0
  const ask = await through(
    recordingProvider(autoProvider({ script: [() => (turn++ === 0 ? 'Postgres' : 'SQLite')] }), file),
  )
  await ask(DB)
  await ask(DB)
  const replay = await replayProvider(file)
  const again = await through(replay)
  expect((await again(DB)).answers[0]?.selected).toEqual(['Postgres'])
  expect(replay.unused()).toBe(1)
  expect((await again(DB)).answers[0]?.selected).toEqual(['SQLite'])
  await expect(again(DB)).rejects.toMatchObject({ code: 'ASK_UNAVAILABLE', details: { reason: 'no-rule' } })
})

test('a recording made by requests at once keeps them apart', async () => {
  const ask = await through(recordingProvider(autoProvider({ policy: 'first' }), file))
  const ids = Array.from({ length: 20 }, (_, index) => `q${index}`)
  await Promise.all(ids.map(id => ask({ ...DB, id })))
  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  expect(lines).toHaveLength(20)
  const again = await through(await replayProvider(file))
  const answers = await Promise.all(ids.toReversed().map(id => again({ ...DB, id })))
  expect(answers.map(({ answers: [answer] }) => answer?.id)).toEqual(ids.toReversed())
})

test.each([
  new UserQuestionError('ASK_CANCELLED', { reason: 'lunch', answers: [{ id: 'db', selected: ['SQLite'] }] }),
  new UserQuestionError('ASK_DECLINED', { reason: 'no' }),
  new UserQuestionError('ASK_CLARIFIED', { text: 'which one is faster?' }),
  new UserQuestionError('ASK_INTERRUPTED', {}),
])('a recording ends as the person ended it: $code', async ending => {
  const ask = await through(recordingProvider({ ask: () => Promise.reject(ending) }, file))
  await expect(ask(DB)).rejects.toMatchObject({ code: ending.code })
  const again = await through(await replayProvider(file))
  await expect(again(DB)).rejects.toMatchObject({ code: ending.code, details: ending.details })
})

test('what nobody decided is not recorded', async () => {
  const ask = await through(recordingProvider(autoProvider(), file))
  await expect(ask(DB)).rejects.toMatchObject({ code: 'ASK_UNAVAILABLE' })
  await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a recording that cannot be written is reported, and the answer goes on', async () => {
  const errors: Error[] = []
  const onError = (error: Error): void => void errors.push(error)
  const ask = await through(
    recordingProvider(autoProvider({ policy: 'first' }), join(directory, 'no', 'file'), { onError }),
  )
  expect((await ask(DB)).answers[0]?.selected).toEqual(['Postgres'])
  expect(errors).toMatchObject([{ code: 'ENOENT' }])
})

test('an answer that came after the abort is not recorded', async () => {
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  let answer = (_: { answers: never[] }): void => {}
  const late = { ask: () => new Promise<{ answers: never[] }>(resolve => (answer = resolve)) }
  ctx.userQuestions.registerProvider(recordingProvider(late, file))
  const controller = new AbortController()
  const asking = ctx.userQuestions.ask({ questions: [DB], signal: controller.signal })
  controller.abort()
  await expect(asking).rejects.toMatchObject({ code: 'ASK_ABORTED' })
  answer({ answers: [] })
  await new Promise(resolve => setImmediate(resolve))
  await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' })
})

test.each([
  ['{', 'line 1: is no JSON'],
  ['{"questions":[]}', 'needs either answers or ended'],
  ['{"questions":[{"id":7}],"answers":[]}', 'questions[0].id'],
])('a file that holds %s is refused, naming the place', async (text, message) => {
  await writeFile(file, text)
  await expect(replayProvider(file)).rejects.toThrow(message)
})
