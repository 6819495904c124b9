import { answerInterrupts, askUserTool, AskUserToolError } from '@handraise/tool-ask-user/langchain'
import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { Command, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { createAgent, humanInTheLoopMiddleware, tool, type HITLResponse } from 'langchain'
import { describe, expect, expectTypeOf, test, vi } from 'vitest'
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
  untilItEnds,
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

type Graph = { invoke: (input: never, config?: object) => Promise<{ messages: BaseMessage[] }> }

describe.each([
  ['createAgent', (model, ask) => createAgent({ model, tools: [ask] }) as unknown as Graph],
  [
    'a graph with a ToolNode',
    (model, ask) =>
      new StateGraph(MessagesAnnotation)
        .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
        .addNode('tools', new ToolNode([ask]))
        .addEdge('__start__', 'model')
        .addConditionalEdges('model', toolsCondition)
        .addEdge('tools', 'model')
        .compile() as unknown as Graph,
  ],
] satisfies Array<
  [string, (model: ReturnType<typeof fakeModel>, ask: ReturnType<typeof askUserTool>) => Graph]
>)('in %s', (_, graphOf) => {
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
})

test('a run whose process ended gets the answer that was given meanwhile', async () => {
  const file = databaseFile()
  const checkpointer = new MemorySaver()
  const thread = { configurable: { thread_id: 't1' } }
  const before = await startHost(file)
  const gone = askUserTool(untilItEnds(before.asker))
  void createAgent({ model: fakeModel().respondWithTools(asks()), tools: [gone], checkpointer }).invoke(
    input,
    thread,
  )
  const { id } = await before.waiting()
  await before.leave()

  const away = await startHost(file)
  await away.answer()
  await away.leave()

  const after = await startHost(file)
  const model = fakeModel().respond(done)
  const agent = createAgent({ model, tools: [askUserTool(after.asker)], checkpointer })
  const { messages } = await agent.invoke(null as never, thread)
  expect(messages.at(-1)?.content).toBe('Done.')
  expect(told(model)).toEqual([{ content: ANSWER_TEXT, status: 'success', tool_call_id: 'call-1' }])
  expect((await after.list('settled')).map(request => request.id)).toEqual([id])
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
    agent.invoke(new Command({ resume: answers }), thread)
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
  expectTypeOf(answers).toExtend<Record<string, HITLResponse>>()
  await resume(answers)
  expect(execute.mock.calls.map(([{ path }]) => path)).toEqual(['/tmp/a', '/tmp/b'])
  expect(told(model).map(({ content }) => content)).toEqual(['deleted /tmp/a', 'deleted /tmp/b'])
  const [again] = Object.values(await answerInterrupts(interrupts, approver, { session: 's1' }))
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

test('an approval that is aborted answers nothing', async () => {
  const { approver, waiting, interrupts } = await startApproval()
  const controller = new AbortController()
  const answering = answerInterrupts(interrupts, approver, { signal: controller.signal })
  await waiting()
  controller.abort(new Error('stop'))
  await expect(answering).rejects.toThrow('stop')
})

test('a person is not asked what could not be told', async () => {
  const { approver, interrupts, list } = await startApproval(['approve'])
  await expect(answerInterrupts(interrupts, approver)).rejects.toThrow(/delete_file must allow.*"reject"/u)
  expect(await list('pending')).toEqual([])
  expect(await answerInterrupts([{ id: '1', value: 'Which colour?' }], approver)).toEqual({})
})
