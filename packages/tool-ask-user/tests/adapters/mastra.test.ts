import { answerApprovals, askUserTool } from '@handraise/tool-ask-user/mastra'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  ANSWER,
  ANSWER_TEXT,
  ASKED,
  askDirectly,
  databaseFile,
  FAILURES,
  failWith,
  startHost,
} from './host.ts'

type Generated = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>
type Tools = ConstructorParameters<typeof Agent>[0]['tools']

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const calls = (toolName: string, input: unknown, toolCallId = 'call-1'): Generated => ({
  content: [
    {
      type: 'tool-call',
      toolCallId,
      toolName,
      input: typeof input === 'string' ? input : JSON.stringify(input),
    },
  ],
  finishReason: { unified: 'tool-calls', raw: undefined },
  usage,
  warnings: [],
})
const says = (text: string): Generated => ({
  content: [{ type: 'text', text }],
  finishReason: { unified: 'stop', raw: undefined },
  usage,
  warnings: [],
})
const asks = (input: unknown = ASKED, id?: string) => calls('ask_user_question', input, id)
const scripted = (...doGenerate: Generated[]) => new MockLanguageModelV3({ doGenerate })
/** The results the model was given with its nth request. */
const told = (model: MockLanguageModelV3, nth: number) =>
  model.doGenerateCalls[nth]?.prompt.flatMap(({ role, content }) =>
    role === 'tool' ? content.map(part => (part.type === 'tool-result' ? part.output : part)) : [],
  )

function agentOf(model: MockLanguageModelV3, tools: Tools, storage = new InMemoryStore()) {
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'Help.', model, ...(tools ? { tools } : {}) })
  return new Mastra({ agents: { agent }, storage, logger: false }).getAgent('agent')
}

test('a run asks under the id of its call, and goes on with the answer', async () => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const model = scripted(asks(), says('SQLite it is.'))
  const tools = { ask_user_question: askUserTool(asker, { session: 's1' }) }
  const { text } = await agentOf(model, tools).generate('Set it up.')
  expect(text).toBe('SQLite it is.')
  expect(asked).toMatchObject([{ questions: ASKED.questions, key: 'call-1', session: 's1' }])
  expect(told(model, 1)).toEqual([{ type: 'text', value: ANSWER_TEXT }])
  expect(model.doGenerateCalls[0]?.tools).toMatchObject([
    { name: 'ask_user_question', inputSchema: { required: ['questions'] } },
  ])
})

test('arguments with one sure reading are mended', async () => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const model = scripted(asks({ questions: JSON.stringify(ASKED.questions) }), says('Done.'))
  await agentOf(model, { ask_user_question: askUserTool(asker) }).generate('Set it up.')
  expect(asked[0]?.questions).toEqual(ASKED.questions)
  expect(told(model, 1)).toEqual([{ type: 'text', value: ANSWER_TEXT }])
})

test('every fault of other arguments is told the model, which may call again', async () => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const model = scripted(asks({ questions: [{ id: 'a', options: 3 }] }), asks('{', 'call-2'), says('Sorry.'))
  const { text } = await agentOf(model, { ask_user_question: askUserTool(asker) }).generate('Set it up.')
  expect(text).toBe('Sorry.')
  expect(asked).toEqual([])
  expect(told(model, 2)).toEqual([
    {
      type: 'error-text',
      value: expect.stringMatching(
        /^Error: invalid arguments .*questions\[0\]\.question: .*send for example/u,
      ),
    },
    { type: 'error-text', value: expect.stringMatching(/^Error: invalid arguments .*send for example/u) },
  ])
})

test('a run that is aborted ends without an answer, and takes its question down', async () => {
  const { asker, waiting, list } = await startHost()
  const model = scripted(asks(), says('never'))
  const controller = new AbortController()
  const running = agentOf(model, { ask_user_question: askUserTool(asker) }).generate('Set it up.', {
    abortSignal: controller.signal,
  })
  await waiting()
  controller.abort(new Error('stop'))
  const { text, toolResults } = await running
  expect([text, toolResults]).toEqual(['', []])
  expect(model.doGenerateCalls).toHaveLength(1)
  await expect.poll(async () => (await list('settled'))[0]?.settlement?.outcome).toBe('aborted')
})

test.each(FAILURES)('%s reaches the model as text, and the run goes on', async (error, value) => {
  const { asker } = await askDirectly(failWith(error))
  const model = scripted(asks(), says('Then I decide.'))
  const { text } = await agentOf(model, { ask_user_question: askUserTool(asker) }).generate('Set it up.')
  expect(text).toBe('Then I decide.')
  expect(told(model, 1)).toEqual([{ type: 'error-text', value }])
})

test('a run that was suspended gets the answer that was given meanwhile', async () => {
  const file = databaseFile()
  const storage = new InMemoryStore()
  const before = await startHost(file)
  const ask = ({ asker }: Pick<typeof before, 'asker'>, patienceMs: number) => ({
    ask_user_question: askUserTool(asker, { session: 's1', patienceMs }),
  })
  const suspended = await agentOf(scripted(asks()), ask(before, 0), storage).generate('Set it up.')
  expect(suspended.finishReason).toBe('suspended')
  const { id } = await before.waiting()
  await before.leave()

  const away = await startHost(file)
  await away.answer()
  await away.leave()

  const after = await startHost(file)
  const model = scripted(says('SQLite it is.'))
  const resumed = agentOf(model, ask(after, 20_000), storage)
  const { runs } = await resumed.listSuspendedRuns()
  const { runId, toolCalls } = runs[0] ?? expect.fail('no run is suspended')
  const { text } = await resumed.resumeGenerate({}, { runId, toolCallId: toolCalls[0]?.toolCallId ?? '' })
  expect(text).toBe('SQLite it is.')
  expect(told(model, 0)).toEqual([{ type: 'text', value: ANSWER_TEXT }])
  expect((await after.list('settled')).map(request => request.id)).toEqual([id])
})

test('a run with patience is suspended where its host goes down, and one without hears it', async () => {
  const { asker, waiting, leave } = await startHost()
  const model = scripted(asks(), says('lost'))
  const running = agentOf(model, { ask_user_question: askUserTool(asker, { patienceMs: 20_000 }) }).generate(
    'Go.',
  )
  await waiting()
  await leave()
  expect((await running).finishReason).toBe('suspended')
  const other = await startHost()
  const heard = scripted(asks(), says('Then I decide.'))
  const told1 = agentOf(heard, { ask_user_question: askUserTool(other.asker) }).generate('Go.')
  await other.waiting()
  await other.leave()
  await told1
  expect(told(heard, 1)).toEqual([
    { type: 'error-text', value: expect.stringContaining('went away before the user answered') },
  ])
})

const deleteFile = (execute: (input: { path: string }) => Promise<string>) =>
  createTool({
    id: 'delete_file',
    description: 'Deletes a file.',
    inputSchema: z.object({ path: z.string() }),
    requireApproval: true,
    execute,
  })

async function startApproval() {
  const host = await startHost()
  const model = scripted(calls('delete_file', { path: '/tmp/a' }), says('Done.'))
  const execute = vi.fn(async ({ path }: { path: string }) => `deleted ${path}`)
  const agent = agentOf(model, { delete_file: deleteFile(execute) })
  return { ...host, agent, model, execute, output: await agent.generate('Clean up.') }
}

test('a call that waits for approval runs once it is allowed', async () => {
  const { agent, approver, waiting, choose, model, execute, output } = await startApproval()
  const answering = answerApprovals(agent, output, approver, { session: 's1' })
  expect(await waiting()).toMatchObject({
    key: expect.stringContaining('call-1'),
    session: 's1',
    payload: { subject: { kind: 'tool', toolName: 'delete_file', input: { path: '/tmp/a' } } },
  })
  expect(execute).not.toHaveBeenCalled()
  await choose('allow_once')
  expect(await answering).toMatchObject({ text: 'Done.' })
  expect(execute).toHaveBeenCalledOnce()
  expect(told(model, 1)).toMatchObject([{ value: 'deleted /tmp/a' }])
})

test('a denial is told the model in the words of the person, and nothing runs', async () => {
  const { agent, approver, choose, model, execute, output } = await startApproval()
  const answering = answerApprovals(agent, output, approver)
  await choose('deny_feedback', 'Keep it.')
  await answering
  expect(execute).not.toHaveBeenCalled()
  expect(told(model, 1)).toMatchObject([
    {
      value:
        'denied by the user: delete_file. It was not done. They said: "Keep it.". Do not try to do the same in another way.',
    },
  ])
})

test('that nobody decided is told the model as that, and nothing runs', async () => {
  const { agent, approver, dismiss, model, execute, output } = await startApproval()
  const answering = answerApprovals(agent, output, approver)
  await dismiss()
  await answering
  expect(execute).not.toHaveBeenCalled()
  expect(told(model, 1)).toMatchObject([
    { value: expect.stringMatching(/dismissed.*nobody has denied it\.$/u) },
  ])
})

test('an approval that is aborted answers nothing, and the run waits still', async () => {
  const { agent, approver, waiting, output } = await startApproval()
  const controller = new AbortController()
  const answering = answerApprovals(agent, output, approver, { signal: controller.signal })
  await waiting()
  controller.abort(new Error('stop'))
  await expect(answering).rejects.toThrow('stop')
  expect((await agent.listSuspendedRuns()).total).toBe(1)
})

test('an approval whose host goes down answers nothing, and the run waits still', async () => {
  const { agent, approver, waiting, leave, output } = await startApproval()
  const ended = expect(answerApprovals(agent, output, approver)).rejects.toMatchObject({
    code: 'APPROVAL_LEFT_OPEN',
  })
  await waiting()
  await leave()
  await ended
  expect((await agent.listSuspendedRuns()).total).toBe(1)
})

test('a call that a sub-agent makes is asked about as itself, and runs once it is allowed', async () => {
  const { approver, waiting, choose } = await startHost()
  const execute = vi.fn(async ({ path }: { path: string }) => `deleted ${path}`)
  const inner = new Agent({
    id: 'inner',
    name: 'inner',
    description: 'Cleans up.',
    instructions: 'Help.',
    model: scripted(calls('delete_file', { path: '/tmp/a' }), says('Cleaned up.')),
    tools: { delete_file: deleteFile(execute) },
  })
  const model = scripted(calls('agent-inner', { prompt: 'Clean up.' }, 'call-0'), says('Done.'))
  const outer = new Agent({ id: 'a', name: 'a', instructions: 'Help.', model, agents: { inner } })
  const agent = new Mastra({ agents: { outer }, storage: new InMemoryStore(), logger: false }).getAgent(
    'outer',
  )
  const answering = answerApprovals(agent, await agent.generate('Clean up.'), approver)
  expect(await waiting()).toMatchObject({
    key: expect.stringContaining('call-1'),
    payload: { subject: { toolName: 'delete_file', input: { path: '/tmp/a' } } },
  })
  await choose('allow_once')
  expect(await answering).toMatchObject({ text: 'Done.' })
  expect(execute).toHaveBeenCalledOnce()
})

const cleaner = (id: string, path: string, execute: (input: { path: string }) => Promise<string>) =>
  new Agent({
    id,
    name: id,
    description: 'Cleans up.',
    instructions: 'Help.',
    model: scripted(calls('delete_file', { path }, `of-${id}`), says(`${id} is done.`)),
    tools: { delete_file: deleteFile(execute) },
  })

test.each(['by what it gave', 'by the list'])(
  'two sub-agents of one step are asked about one by one, and the run goes on %s',
  async from => {
    const { approver, waiting, choose } = await startHost()
    const execute = vi.fn(async ({ path }: { path: string }) => `deleted ${path}`)
    const agents = { one: cleaner('one', '/a', execute), two: cleaner('two', '/b', execute) }
    const both = calls('agent-one', { prompt: 'Clean up.' }, 'call-1')
    both.content.push(...calls('agent-two', { prompt: 'Clean up.' }, 'call-2').content)
    const model = scripted(both, says('Done.'))
    const outer = new Agent({ id: 'a', name: 'a', instructions: 'Help.', model, agents })
    const agent = new Mastra({ agents: { outer }, storage: new InMemoryStore(), logger: false }).getAgent(
      'outer',
    )
    const given = await agent.generate('Clean up.')
    const { runs } = await agent.listSuspendedRuns()
    const { runId, toolCalls } = runs[0] ?? expect.fail('no run is suspended')
    expect(toolCalls).toHaveLength(2)
    const listed = { runId, finishReason: 'suspended', suspendPayload: toolCalls[0] }
    const answering = answerApprovals(agent, from === 'by the list' ? listed : given, approver)
    const first = await waiting()
    await choose('allow_once')
    await expect.poll(async () => (await waiting()).id).not.toBe(first.id)
    await choose('allow_once')
    expect(await answering).toMatchObject({ text: 'Done.' })
    expect(execute.mock.calls.map(([{ path }]) => path).toSorted()).toEqual(['/a', '/b'])
  },
)

test('an approval of a sub-agent that waits is found again, and what waits for an answer is left alone', async () => {
  const { approver, choose, asker, waiting, list } = await startHost()
  const execute = vi.fn(async ({ path }: { path: string }) => `deleted ${path}`)
  const model = scripted(calls('agent-one', { prompt: 'Clean up.' }), says('Done.'))
  const agents = { one: cleaner('one', '/a', execute) }
  const outer = new Agent({ id: 'a', name: 'a', instructions: 'Help.', model, agents })
  const agent = new Mastra({ agents: { outer }, storage: new InMemoryStore(), logger: false }).getAgent(
    'outer',
  )
  await agent.generate('Clean up.')
  const { runs } = await agent.listSuspendedRuns()
  const { runId, toolCalls } = runs[0] ?? expect.fail('no run is suspended')
  const answering = answerApprovals(
    agent,
    { runId, finishReason: 'suspended', suspendPayload: toolCalls[0] },
    approver,
  )
  await choose('allow_once')
  expect(await answering).toMatchObject({ text: 'Done.' })
  expect(execute).toHaveBeenCalledOnce()

  const asking = agentOf(scripted(asks()), { ask_user_question: askUserTool(asker, { patienceMs: 0 }) })
  await asking.generate('Go.')
  await waiting()
  const listed = (await asking.listSuspendedRuns()).runs[0] ?? expect.fail('no run is suspended')
  const output = { runId: listed.runId, finishReason: 'suspended', suspendPayload: listed.toolCalls[0] }
  expect(await answerApprovals(asking, output, approver)).toBe(output)
  expect(await list('pending')).toHaveLength(1)
})

test('a streamed run is answered by its full output, and the stream itself is refused', async () => {
  const { approver, choose, list } = await startHost()
  const execute = vi.fn(async () => 'deleted')
  const chunks = [
    { type: 'stream-start', warnings: [] },
    ...calls('delete_file', { path: '/tmp/a' }).content,
    { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
  ] as never[]
  const model = new MockLanguageModelV3({
    doStream: { stream: simulateReadableStream({ chunks }) },
    doGenerate: says('Done.'),
  })
  const agent = agentOf(model, { delete_file: deleteFile(execute) })
  const stream = await agent.stream('Clean up.')
  await expect(answerApprovals(agent, stream as never, approver)).rejects.toThrow(/getFullOutput/u)
  const answering = answerApprovals(agent, await stream.getFullOutput(), approver)
  await choose('allow_once')
  expect(await answering).toMatchObject({ text: 'Done.' })
  expect(execute).toHaveBeenCalledOnce()
  expect(await list('pending')).toEqual([])
})

test('an approval that waits is found again, and answered', async () => {
  const { agent, approver, choose, execute } = await startApproval()
  const { runs } = await agent.listSuspendedRuns()
  const { runId, toolCalls } = runs[0] ?? expect.fail('no run is suspended')
  const [suspendPayload] = toolCalls
  expect(suspendPayload?.requiresApproval).toBe(true)
  const output = { runId, finishReason: 'suspended', suspendPayload }
  const answering = answerApprovals(agent, output, approver)
  await choose('allow_once')
  expect(await answering).toMatchObject({ text: 'Done.' })
  expect(execute).toHaveBeenCalledOnce()
})

test('nobody is asked about a run that could not go on', async () => {
  const { approver, list } = await startHost()
  const model = scripted(calls('delete_file', { path: '/tmp/a' }))
  const tools = { delete_file: deleteFile(async () => 'deleted') }
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'Help.', model, tools })
  const output = await agent.generate('Clean up.')
  await expect(answerApprovals(agent, output, approver)).rejects.toThrow(
    /new Mastra\(\{ agents, storage \}\)/u,
  )
  expect(await list('pending')).toEqual([])
})
