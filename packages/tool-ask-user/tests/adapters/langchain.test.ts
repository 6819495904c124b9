import { answerInterrupts, askUserTool, AskUserToolError } from '@handraise/tool-ask-user/langchain'
import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import {
  Command,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  StateGraph,
  type Interrupt,
} from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { createAgent, humanInTheLoopMiddleware, tool, type HITLResponse } from 'langchain'
import { describe, expect, expectTypeOf, test, vi } from 'vitest'
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

const asks = (args: unknown = ASKED, id = 'call-1') => [
  { name: 'ask_user_question', args: args as Record<string, unknown>, id },
]
const done = new AIMessage('Done.')
const input = { messages: [{ role: 'user' as const, content: 'Set it up.' }] }
const toolMessages = (messages: BaseMessage[] = []) =>
  messages
    .filter(message => ToolMessage.isInstance(message))
    .map(({ content, status, tool_call_id }) => ({ content, status, tool_call_id }))
/** The tool messages the model was given last. */
const told = (model: ReturnType<typeof fakeModel>) => toolMessages(model.calls.at(-1)?.messages)

type Graph = {
  invoke: (input: never, config?: object) => Promise<{ messages: BaseMessage[]; __interrupt__?: Interrupt[] }>
}

type GraphOf = (
  model: ReturnType<typeof fakeModel>,
  ask: ReturnType<typeof askUserTool>,
  checkpointer?: MemorySaver,
) => Graph

describe.each<[string, GraphOf]>([
  [
    'createAgent',
    (model, ask, checkpointer) => createAgent({ model, tools: [ask], ...(checkpointer && { checkpointer }) }),
  ],
  [
    'a graph with a ToolNode',
    (model, ask, checkpointer) =>
      new StateGraph(MessagesAnnotation)
        .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
        .addNode('tools', new ToolNode([ask]))
        .addEdge('__start__', 'model')
        .addConditionalEdges('model', toolsCondition)
        .addEdge('tools', 'model')
        .compile(checkpointer && { checkpointer }),
  ],
])('in %s', (_, graphOf) => {
  test('a run asks under the id of its call and its thread, and goes on with the answer', async () => {
    const { asker, asked } = await askDirectly(() => ANSWER)
    const model = fakeModel().respondWithTools(asks()).respond(done)
    const { messages } = await graphOf(model, askUserTool(asker)).invoke(input as never, {
      configurable: { thread_id: 't1' },
    })
    expect(messages.at(-1)?.content).toBe('Done.')
    expect(asked).toMatchObject([{ questions: ASKED.questions, key: 'call-1', session: 't1' }])
    expect(told(model)).toEqual([{ content: ANSWER_TEXT, status: 'success', tool_call_id: 'call-1' }])
  })

  test('arguments with one sure reading are mended', async () => {
    const { asker, asked } = await askDirectly(() => ANSWER)
    const model = fakeModel()
      .respondWithTools(asks({ questions: JSON.stringify(ASKED.questions) }))
      .respond(done)
    await graphOf(model, askUserTool(asker, { session: 's1' })).invoke(input as never)
    expect(asked).toMatchObject([{ questions: ASKED.questions, session: 's1' }])
    expect(told(model)).toMatchObject([{ content: ANSWER_TEXT, status: 'success' }])
  })

  test('every fault of other arguments is told the model, which may call again', async () => {
    const { asker, asked } = await askDirectly(() => ANSWER)
    const model = fakeModel()
      .respondWithTools(asks({ questions: [{ id: 'a', options: 3 }] }))
      .respondWithTools(asks(ASKED, 'call-2'))
      .respond(done)
    await graphOf(model, askUserTool(asker)).invoke(input as never)
    expect(asked).toHaveLength(1)
    expect(told(model)).toMatchObject([
      {
        content: expect.stringMatching(
          /^Error: invalid arguments for ask_user_question: questions\[0\]\.question: .*send for example/u,
        ),
        status: 'error',
        tool_call_id: 'call-1',
      },
      { status: 'success', tool_call_id: 'call-2' },
    ])
  })

  test('a run that is aborted ends as one, and takes its question down', async () => {
    const { asker, waiting, list } = await startHost()
    const model = fakeModel().respondWithTools(asks()).respond(done)
    const controller = new AbortController()
    const running = graphOf(model, askUserTool(asker)).invoke(input as never, { signal: controller.signal })
    await waiting()
    controller.abort(new Error('stop'))
    await expect(running).rejects.toThrow(/stop|abort/iu)
    expect(model.callCount).toBe(1)
    await expect.poll(async () => (await list('settled'))[0]?.settlement?.outcome).toBe('aborted')
  })

  test.each(FAILURES)('%s reaches the model as text, and the run goes on', async (error, content) => {
    const { asker } = await askDirectly(failWith(error))
    const model = fakeModel().respondWithTools(asks()).respond(done)
    const { messages } = await graphOf(model, askUserTool(asker)).invoke(input as never)
    expect(messages.at(-1)?.content).toBe('Done.')
    expect(told(model)).toEqual([{ content, status: 'error', tool_call_id: 'call-1' }])
  })

  test('a run whose host went down is interrupted, and gets the answer that was given meanwhile', async () => {
    const file = databaseFile()
    const checkpointer = new MemorySaver()
    const thread = { configurable: { thread_id: 't1' } }
    const before = await startHost(file)
    const stopped = fakeModel().respondWithTools(asks()).respond(done)
    const running = graphOf(stopped, askUserTool(before.asker), checkpointer).invoke(input as never, thread)
    const { id } = await before.waiting()
    await before.leave()
    const { messages, __interrupt__: interrupts = [] } = await running
    expect(toolMessages(messages)).toEqual([])
    expect(stopped.callCount).toBe(1)
    expect(interrupts).toMatchObject([{ value: { waitsFor: 'answer' } }])

    const away = await startHost(file)
    expect(await answerInterrupts(interrupts, away.approver)).toBeUndefined()
    await away.answer()
    await away.leave()

    const after = await startHost(file)
    const model = fakeModel().respond(done)
    const graph = graphOf(model, askUserTool(after.asker), checkpointer)
    expect((await graph.invoke(null as never, thread)).messages.at(-1)?.content).toBe('Done.')
    expect(told(model)).toEqual([{ content: ANSWER_TEXT, status: 'success', tool_call_id: 'call-1' }])
    expect((await after.list('settled')).map(request => request.id)).toEqual([id])
  })
})

test.each<[Parameters<typeof askUserTool>[1], string | number, string]>([
  [{}, 42, '42'],
  [{ session: undefined }, 't1', 't1'],
  [{ session: () => undefined }, 't1', 't1'],
  [{ session: () => 's1' }, 't1', 's1'],
])('with %o the session of a call in the thread %o is %s', async (options, thread, session) => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const model = fakeModel().respondWithTools(asks()).respond(done)
  const agent = createAgent({ model, tools: [askUserTool(asker, options)] })
  await agent.invoke(input, { configurable: { thread_id: thread } })
  expect(asked[0]?.session).toBe(session)
})

test('a run that is kept nowhere is told that its host went down, and does not end as if it were done', async () => {
  const { asker, waiting, leave } = await startHost()
  const model = fakeModel().respondWithTools(asks()).respond(done)
  const running = createAgent({ model, tools: [askUserTool(asker)] }).invoke(input)
  await waiting()
  await leave()
  expect((await running).messages.at(-1)?.content).toBe('Done.')
  expect(told(model)).toMatchObject([
    { content: expect.stringContaining('went away before the user answered'), status: 'error' },
  ])
})

test('a question that went away with its provider, and waits nowhere, is told as that', async () => {
  const { asker } = await askAndLeave()
  const model = fakeModel().respondWithTools(asks()).respond(done)
  const agent = createAgent({ model, tools: [askUserTool(asker)], checkpointer: new MemorySaver() })
  const { messages } = await agent.invoke(input, { configurable: { thread_id: 't1' } })
  expect(messages.at(-1)?.content).toBe('Done.')
  expect(told(model)).toMatchObject([
    { content: expect.stringContaining('went away before the user answered'), status: 'error' },
  ])
})

test('a call without an id is asked under one of its own', async () => {
  const { asker, answer, waiting } = await startHost()
  const model = fakeModel().respondWithTools(asks(ASKED, '')).respond(done)
  const running = createAgent({ model, tools: [askUserTool(asker)] }).invoke(input)
  expect((await waiting()).key).toMatch(/^[\da-f-]{36}$/u)
  await answer()
  await running
  expect(told(model)).toMatchObject([{ content: ANSWER_TEXT, tool_call_id: '' }])
})

test('a tool that hands its config on may ask several things, and finds them when it is run again', async () => {
  const { asker, answer, list } = await startHost()
  const ask = askUserTool(asker)
  const other = { questions: [{ id: 'db', question: 'And then?', options: ASKED.questions[0]?.options }] }
  const askTwice = tool(
    async (_, config) => {
      const texts: unknown[] = [await ask.invoke(ASKED, config), await ask.invoke(other, config)]
      return texts.join(' ')
    },
    { name: 'ask_twice', schema: z.object({}) },
  )
  const run = async () => {
    const model = fakeModel()
      .respondWithTools([{ name: 'ask_twice', args: {}, id: 'call-1' }])
      .respond(done)
    await createAgent({ model, tools: [askTwice] }).invoke(input, { configurable: { thread_id: 't1' } })
    return told(model)
  }
  const running = run()
  await answer()
  await expect.poll(async () => (await list('pending')).map(({ key }) => key)).toEqual(['call-1/2'])
  await answer()
  const both = [{ content: `${ANSWER_TEXT} ${ANSWER_TEXT}`, status: 'success' }]
  expect(await running).toMatchObject(both)
  expect(await run()).toMatchObject(both)
})

test('code that calls the tool by itself gets the text, or an error', async () => {
  const { asker } = await askDirectly(() => ANSWER)
  expect(await askUserTool(asker).invoke(ASKED)).toBe(ANSWER_TEXT)
  const nobody = await askDirectly()
  await expect(askUserTool(nobody.asker).invoke(ASKED)).rejects.toBeInstanceOf(AskUserToolError)
})

async function startApproval(allowedDecisions: Array<'approve' | 'edit' | 'reject'> = ['approve', 'reject']) {
  const host = await startHost()
  const execute = vi.fn(({ path }: { path: string }) => `deleted ${path}`)
  const deleteFile = tool(execute, {
    name: 'delete_file',
    description: 'Deletes a file.',
    schema: z.object({ path: z.string() }),
  })
  const model = fakeModel()
    .respondWithTools([
      { name: 'delete_file', args: { path: '/tmp/a' }, id: 'call-1' },
      { name: 'delete_file', args: { path: '/tmp/b' }, id: 'call-2' },
    ])
    .respond(done)
  const agent = createAgent({
    model,
    tools: [deleteFile],
    checkpointer: new MemorySaver(),
    // Its types do not know `exactOptionalPropertyTypes`.
    middleware: [
      humanInTheLoopMiddleware({ interruptOn: { delete_file: { allowedDecisions } } } as never),
    ] as unknown as [],
  })
  const thread = { configurable: { thread_id: 't1' } }
  const { __interrupt__: interrupts = [] } = await agent.invoke(input, thread)
  const resume = (answers: Awaited<ReturnType<typeof answerInterrupts>>) =>
    agent.invoke(new Command({ resume: answers ?? expect.fail('nothing was decided') }), thread)
  return { ...host, model, execute, interrupts, resume }
}

test('calls that wait for approval are asked for one by one, and run when all are allowed', async () => {
  const { approver, waiting, choose, model, execute, interrupts, resume } = await startApproval()
  const answering = answerInterrupts(interrupts, approver, { session: 's1' })
  expect(await waiting()).toMatchObject({
    session: 's1',
    payload: { subject: { kind: 'tool', toolName: 'delete_file', input: { path: '/tmp/a' } } },
  })
  await choose('allow_once')
  await expect
    .poll(async () => (await waiting()).payload)
    .toMatchObject({ subject: { input: { path: '/tmp/b' } } })
  await choose('allow_once')
  const answers = await answering
  expectTypeOf(answers).toExtend<Record<string, HITLResponse> | undefined>()
  await resume(answers)
  expect(execute.mock.calls.map(([{ path }]) => path)).toEqual(['/tmp/a', '/tmp/b'])
  expect(told(model).map(({ content }) => content)).toEqual(['deleted /tmp/a', 'deleted /tmp/b'])
  const [again] = Object.values((await answerInterrupts(interrupts, approver, { session: 's1' })) ?? {})
  expect(again?.decisions[0]).toMatchObject({
    type: 'reject',
    message: expect.stringContaining('started before'),
  })
})

test('a denial is told the model in the words of the person, and no call of that step runs', async () => {
  const { approver, choose, waiting, model, execute, interrupts, resume } = await startApproval()
  const answering = answerInterrupts(interrupts, approver)
  await choose('allow_once')
  await expect
    .poll(async () => (await waiting()).payload)
    .toMatchObject({ subject: { input: { path: '/tmp/b' } } })
  await choose('deny_feedback', 'Keep it.')
  await resume(await answering)
  expect(execute).not.toHaveBeenCalled()
  expect(told(model).map(({ content }) => content)).toEqual([
    expect.stringMatching(/^delete_file was allowed, and was not done, as another call/u),
    'denied by the user: delete_file. It was not done. They said: "Keep it.". Do not try to do the same in another way.',
  ])
})

test('that nobody decided is told the model as that, and nothing runs', async () => {
  const { model, execute, interrupts, resume } = await startApproval()
  const broken = { request: () => Promise.reject(new Error('no line to anybody')) }
  await resume(await answerInterrupts(interrupts, broken))
  expect(execute).not.toHaveBeenCalled()
  expect(told(model)).toMatchObject([
    {
      content: expect.stringMatching(
        /^Approval unavailable \("no line to anybody"\): nobody could be asked.*nobody has denied it\.$/u,
      ),
      status: 'error',
    },
    {
      content: expect.stringMatching(/^delete_file was not asked about, and was not done/u),
      status: 'error',
    },
  ])
})

test('an approval that is aborted answers nothing, and uses up nothing that was allowed', async () => {
  const { approver, waiting, choose, interrupts } = await startApproval()
  const controller = new AbortController()
  const redeem = vi.fn(approver.redeem.bind(approver))
  const watched = { request: approver.request.bind(approver), redeem }
  const [held] = interrupts
  const both = [
    { ...held, id: 'first' },
    { ...held, id: 'second' },
  ]
  const answering = answerInterrupts(both, watched, { signal: controller.signal })
  for (const key of ['first/0', 'first/1']) {
    await expect.poll(async () => (await waiting()).key).toContain(key)
    await choose('allow_once')
  }
  await expect.poll(async () => (await waiting()).key).toContain('second/0')
  controller.abort(new Error('stop'))
  await expect(answering).rejects.toThrow('stop')
  expect(redeem).not.toHaveBeenCalled()
})

test('an approval whose host goes down answers nothing', async () => {
  const { approver, waiting, leave, interrupts } = await startApproval()
  const answering = answerInterrupts(interrupts, approver)
  await waiting()
  const ended = expect(answering).rejects.toMatchObject({ code: 'APPROVAL_LEFT_OPEN' })
  await leave()
  await ended
})

test('an interrupt of a graph of its own waits on, beside one that is answered', async () => {
  const got: unknown[] = []
  const wipe = tool(() => (got.push(interrupt('Wipe everything?')), 'wiped'), {
    name: 'wipe',
    schema: z.object({}),
  })
  const erase = tool(() => 'erased', { name: 'erase', schema: z.object({}) })
  const call = (name: string, id: string) => ({ name, args: {}, id })
  const model = fakeModel()
    .respondWithTools([call('erase', 'call-1')])
    .respondWithTools([call('wipe', 'call-2')])
    .respond(done)
  const agent = createAgent({
    model,
    tools: [wipe, erase],
    checkpointer: new MemorySaver(),
    middleware: [humanInTheLoopMiddleware({ interruptOn: { erase: true } } as never)] as unknown as [],
  })
  const thread = { configurable: { thread_id: 't1' } }
  const { __interrupt__: interrupts = [] } = await agent.invoke(input, thread)
  const allow = {
    request: async () =>
      ({ outcome: 'decided', policyResult: 'allow', resolvedBy: 'user', approvalId: '1' }) as const,
  }
  const own = { id: 'own', value: 'Which region?' }
  const resume = await answerInterrupts([own, ...interrupts], allow)
  expect(Object.keys(resume ?? {})).toEqual([interrupts[0]?.id])
  const { tasks } = await agent.graph.getState(thread)
  expect(tasks.flatMap(task => task.interrupts)).toEqual(interrupts)
  const { __interrupt__: left = [] } = await agent.invoke(new Command({ resume: resume ?? {} }), thread)
  expect(left).toMatchObject([{ value: 'Wipe everything?' }])
  expect(await answerInterrupts(left, allow)).toBeUndefined()
  expect(got).toEqual([])
})

test('a person is not asked what could not be told', async () => {
  const { approver, interrupts, list } = await startApproval(['approve'])
  await expect(answerInterrupts(interrupts, approver)).rejects.toThrow(/delete_file must allow.*"reject"/u)
  expect(await list('pending')).toEqual([])
})
