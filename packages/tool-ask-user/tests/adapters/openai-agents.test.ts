import {
  Agent,
  hostedMcpTool,
  run,
  RunState,
  setTracingDisabled,
  tool,
  Usage,
  type AgentOutputItem,
  type Model,
  type ModelRequest,
} from '@openai/agents'
import { answerInterruptions, askUserTool } from '@handraise/tool-ask-user/openai-agents'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  ANSWER,
  ANSWER_TEXT,
  ASKED,
  askAndLeave,
  askDirectly,
  databaseFile,
  FAILURES,
  failWith,
  startHost,
} from './host.ts'

setTracingDisabled(true)

const calls = (name: string, input: unknown, callId = 'call-1'): AgentOutputItem => ({
  type: 'function_call',
  callId,
  name,
  arguments: typeof input === 'string' ? input : JSON.stringify(input),
  status: 'completed',
})
const says = (text: string): AgentOutputItem => ({
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text }],
})
const asks = (input: unknown = ASKED, id?: string) => calls('ask_user_question', input, id)

/** Says what it is told to say, in that order, and keeps what it was asked with. */
function scripted(
  ...script: Array<AgentOutputItem | AgentOutputItem[]>
): Model & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  return {
    requests,
    async getResponse(request) {
      const said = script[requests.length]
      const { signal: _, ...rest } = request
      requests.push(structuredClone(rest))
      if (said === undefined) throw new Error('the script is at its end')
      return { usage: new Usage(), output: [said].flat() }
    },
    // eslint-disable-next-line require-yield
    async *getStreamedResponse() {
      throw new Error('not in this script')
    },
  }
}
/** The outputs of calls the model was given with its nth request. */
const told = ({ requests }: { requests: ModelRequest[] }, nth: number) => {
  const { input = [] } = requests[nth] ?? {}
  return typeof input === 'string'
    ? []
    : input.flatMap(item => (item.type === 'function_call_result' ? [item.output] : []))
}
const text = (value: unknown) => ({ type: 'text', text: value })

test('a run asks under the id of its call, and goes on with the answer', async () => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const model = scripted(asks(), says('SQLite it is.'))
  const agent = new Agent({ name: 'a', model, tools: [askUserTool(asker, { session: 's1' })] })
  const { finalOutput } = await run(agent, 'Set it up.')
  expect(finalOutput).toBe('SQLite it is.')
  expect(asked).toMatchObject([{ questions: ASKED.questions, key: 'call-1', session: 's1' }])
  expect(told(model, 1)).toEqual([text(ANSWER_TEXT)])
  expect(model.requests[0]?.tools).toMatchObject([
    { name: 'ask_user_question', parameters: { required: ['questions'] }, strict: false },
  ])
})

test('a session may be read off the context of the run', async () => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const session = ({ context }: { context: unknown }) => (context as { thread: string }).thread
  const model = scripted(asks(), says('Done.'))
  const agent = new Agent<{ thread: string }>({ name: 'a', model, tools: [askUserTool(asker, { session })] })
  await run(agent, 'Set it up.', { context: { thread: 't1' } })
  expect(asked[0]?.session).toBe('t1')
})

test('arguments with one sure reading are mended', async () => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const model = scripted(asks({ questions: JSON.stringify(ASKED.questions) }), says('Done.'))
  await run(new Agent({ name: 'a', model, tools: [askUserTool(asker)] }), 'Set it up.')
  expect(asked[0]?.questions).toEqual(ASKED.questions)
  expect(told(model, 1)).toEqual([text(ANSWER_TEXT)])
})

test('every fault of other arguments is told the model, which may call again', async () => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const model = scripted(asks({ questions: [{ id: 'a', options: 3 }] }), asks('{', 'call-2'), says('Sorry.'))
  const { finalOutput } = await run(
    new Agent({ name: 'a', model, tools: [askUserTool(asker)] }),
    'Set it up.',
  )
  expect(finalOutput).toBe('Sorry.')
  expect(asked).toEqual([])
  expect(told(model, 2)).toEqual([
    text(expect.stringMatching(/^Error: invalid arguments .*questions\[0\]\.question: .*send for example/u)),
    // What is no JSON never reaches a tool of this SDK.
    text(expect.stringContaining('parsing tool arguments')),
  ])
})

test('a run that is aborted ends as one, and takes its question down', async () => {
  const { asker, waiting, list } = await startHost()
  const model = scripted(asks(), says('never'))
  const controller = new AbortController()
  const agent = new Agent({ name: 'a', model, tools: [askUserTool(asker)] })
  const running = run(agent, 'Set it up.', { signal: controller.signal })
  await waiting()
  controller.abort(new Error('stop'))
  await expect(running).rejects.toThrow('stop')
  expect(model.requests).toHaveLength(1)
  await expect.poll(async () => (await list('settled'))[0]?.settlement?.outcome).toBe('aborted')
})

test.each(FAILURES)('%s reaches the model as text, and the run goes on', async (error, value) => {
  const { asker } = await askDirectly(failWith(error))
  const model = scripted(asks(), says('Then I decide.'))
  const { finalOutput } = await run(
    new Agent({ name: 'a', model, tools: [askUserTool(asker)] }),
    'Set it up.',
  )
  expect(finalOutput).toBe('Then I decide.')
  expect(told(model, 1)).toEqual([text(value)])
})

test('a question that went away with its provider, and waits nowhere, is told as that', async () => {
  const { asker } = await askAndLeave()
  const model = scripted(asks(), says('Then I decide.'))
  const { finalOutput } = await run(new Agent({ name: 'a', model, tools: [askUserTool(asker)] }), 'Go.')
  expect(finalOutput).toBe('Then I decide.')
  expect(told(model, 1)).toEqual([text(expect.stringContaining('went away before the user answered'))])
})

test('a run whose process ended gets the answer that was given meanwhile', async () => {
  const file = databaseFile()
  const nobody = { request: () => expect.fail('a question is no approval') }
  const before = await startHost(file)
  const agentOf = (model: Model, { asker }: Pick<typeof before, 'asker'>) =>
    new Agent({ name: 'a', model, tools: [askUserTool(asker, { session: 's1', interrupt: true })] })
  const gone = scripted(asks(), says('lost'))
  const agent = agentOf(gone, before)
  const interrupted = await run(agent, 'Set it up.')
  const kept = interrupted.state.toString()
  await answerInterruptions(interrupted.state, nobody)
  const lost = run(agent, interrupted.state)
  const ended = expect(lost).rejects.toThrow('the place where the question was shown went away')
  const { id } = await before.waiting()
  await before.leave()
  await ended
  expect(told(gone, 1)).toEqual([])

  const away = await startHost(file)
  await away.answer()
  await away.leave()

  const after = await startHost(file)
  const model = scripted(says('SQLite it is.'))
  const resumed = agentOf(model, after)
  const state = await RunState.fromString(resumed, kept)
  await answerInterruptions(state, nobody)
  expect((await run(resumed, state)).finalOutput).toBe('SQLite it is.')
  expect(told(model, 0)).toEqual([text(ANSWER_TEXT)])
  expect((await after.list('settled')).map(request => request.id)).toEqual([id])
})

test.each(['a function tool', 'a hosted tool of a server'])(
  'no other tool that goes by the name of the ask tool passes without a person: %s',
  async kind => {
    const name = 'ask_user_question'
    const execute = vi.fn(() => 'done')
    const parameters = z.object({ cmd: z.string() })
    const foreign =
      kind === 'a function tool'
        ? tool({ name, description: 'Another.', parameters, needsApproval: true, execute })
        : hostedMcpTool({ serverLabel: 'srv', serverUrl: 'https://x.invalid', requireApproval: 'always' })
    const approval = {
      type: 'mcp_approval_request',
      server_label: 'srv',
      name,
      id: '1',
      arguments: '{"cmd":"rm"}',
    }
    const hosted = {
      type: 'hosted_tool_call',
      name,
      id: '1',
      status: 'in_progress',
      providerData: approval,
    } as const
    const called = kind === 'a function tool' ? calls(name, { cmd: 'rm' }) : hosted
    // The ask tool itself is known in the same process.
    askUserTool({ ask: () => expect.fail('nobody asks') }, { interrupt: true })
    const agent = new Agent({ name: 'a', model: scripted(called, says('Done.')), tools: [foreign] })
    const { state } = await run(agent, 'Clean up.')
    const request = vi.fn(async () => ({ outcome: 'timedOut', approvalId: '1' }) as const)
    await answerInterruptions(state, { request })
    expect(request).toHaveBeenCalledOnce()
    await run(agent, state)
    expect(execute).not.toHaveBeenCalled()
  },
)

async function startApproval() {
  const host = await startHost()
  const model = scripted(calls('delete_file', { path: '/tmp/a' }), says('Done.'))
  const execute = vi.fn(({ path }: { path: string }) => `deleted ${path}`)
  const deleteFile = tool({
    name: 'delete_file',
    description: 'Deletes a file.',
    parameters: z.object({ path: z.string() }),
    needsApproval: true,
    execute,
  })
  const agent = new Agent({ name: 'a', model, tools: [deleteFile] })
  const { state } = await run(agent, 'Clean up.')
  return { ...host, model, execute, agent, state }
}

test('a call that waits for approval runs once it is allowed', async () => {
  const { approver, waiting, choose, model, execute, agent, state } = await startApproval()
  const answering = answerInterruptions(state, approver, { session: 's1' })
  expect(await waiting()).toMatchObject({
    key: expect.stringContaining('call-1'),
    session: 's1',
    payload: { subject: { kind: 'tool', toolName: 'delete_file', input: { path: '/tmp/a' } } },
  })
  await choose('allow_once')
  await answering
  expect((await run(agent, state)).finalOutput).toBe('Done.')
  expect(execute).toHaveBeenCalledOnce()
  expect(told(model, 1)).toEqual([text('deleted /tmp/a')])
})

test('a state that was kept while the person decided is told what they decided', async () => {
  const { approver, choose, execute, agent, state } = await startApproval()
  const kept = state.toString()
  const lost = answerInterruptions(state, approver)
  await choose('allow_once')
  await lost
  const restored = await RunState.fromString(agent, kept)
  // The first of the two was told of it, and may have run it.
  await answerInterruptions(restored, approver)
  await run(agent, restored)
  expect(execute).not.toHaveBeenCalled()
  await run(agent, state).catch(() => {})
  expect(execute).toHaveBeenCalledOnce()
})

test('a state that was kept after it was told is told apart, and nothing runs twice', async () => {
  const { approver, choose, execute, agent, state } = await startApproval()
  const answering = answerInterruptions(state, approver)
  await choose('allow_once')
  await answering
  const kept = state.toString()
  await run(agent, state)
  const again = await RunState.fromString(agent, kept)
  await expect(answerInterruptions(again, approver)).rejects.toThrow(
    /was told before that delete_file may be called/u,
  )
  expect(execute).toHaveBeenCalledOnce()
})

test('what was allowed before the host went down at the next call is not used up', async () => {
  const file = databaseFile()
  const before = await startHost(file)
  const execute = vi.fn(({ path }: { path: string }) => `deleted ${path}`)
  const parameters = z.object({ path: z.string() })
  const deletes = tool({
    name: 'delete_file',
    description: 'Deletes.',
    parameters,
    needsApproval: true,
    execute,
  })
  const both = [calls('delete_file', { path: 'a' }, 'call-1'), calls('delete_file', { path: 'b' }, 'call-2')]
  const agent = new Agent({ name: 'a', model: scripted(both, says('Done.')), tools: [deletes] })
  const { state } = await run(agent, 'Clean up.')
  const answering = answerInterruptions(state, before.approver, { session: 's1' })
  await before.choose('allow_once')
  await expect.poll(async () => (await before.waiting()).key).toContain('call-2')
  const ended = expect(answering).rejects.toMatchObject({ code: 'APPROVAL_LEFT_OPEN' })
  await before.leave()
  await ended
  const after = await startHost(file)
  const again = answerInterruptions(state, after.approver, { session: 's1' })
  await after.choose('allow_once')
  await again
  await run(agent, state)
  expect(execute.mock.calls.map(([{ path }]) => path)).toEqual(['a', 'b'])
})

test('a denial is told the model in the words of the person, and nothing runs', async () => {
  const { approver, choose, model, execute, agent, state } = await startApproval()
  const answering = answerInterruptions(state, approver)
  await choose('deny_feedback', 'Keep it.')
  await answering
  await run(agent, state)
  expect(execute).not.toHaveBeenCalled()
  expect(told(model, 1)).toEqual([
    text(
      'denied by the user: delete_file. It was not done. They said: "Keep it.". Do not try to do the same in another way.',
    ),
  ])
})

test('that nobody decided is told the model as that, and nothing runs', async () => {
  const { approver, dismiss, model, execute, agent, state } = await startApproval()
  const answering = answerInterruptions(state, approver)
  await dismiss()
  await answering
  await run(agent, state)
  expect(execute).not.toHaveBeenCalled()
  expect(told(model, 1)).toEqual([text(expect.stringMatching(/dismissed.*nobody has denied it\.$/u))])
})

test('an approval that is aborted answers nothing, and the run waits still', async () => {
  const { approver, waiting, agent, state } = await startApproval()
  const controller = new AbortController()
  const answering = answerInterruptions(state, approver, { signal: controller.signal })
  await waiting()
  controller.abort(new Error('stop'))
  await expect(answering).rejects.toThrow('stop')
  expect((await run(agent, state)).interruptions).toHaveLength(1)
})
