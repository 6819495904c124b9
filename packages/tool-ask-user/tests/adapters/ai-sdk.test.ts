import {
  answerApprovalRequests,
  answerOpenCalls,
  askUserTool,
  AskUserToolError,
} from '@handraise/tool-ask-user/ai-sdk'
import {
  convertToModelMessages,
  generateText,
  readUIMessageStream,
  stepCountIs,
  streamText,
  tool,
  type ModelMessage,
} from 'ai'
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
const ask = { prompt: 'Set it up.', stopWhen: stepCountIs(3) }
/** All that a run said: from version 7 on, `response` is that of the last step alone. */
const saidBy = (result: { response: { messages: ModelMessage[] } }): ModelMessage[] =>
  'responseMessages' in result ? (result.responseMessages as ModelMessage[]) : result.response.messages

test('a run asks under the id of its call, and goes on with the answer', async () => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const model = scripted(asks(), says('SQLite it is.'))
  const tools = { ask_user_question: askUserTool(asker, { session: 's1' }) }
  const { text, steps } = await generateText({ ...ask, model, tools })
  expect(text).toBe('SQLite it is.')
  expect(asked).toMatchObject([{ questions: ASKED.questions, key: 'call-1', session: 's1' }])
  expect(told(model, 1)).toEqual([{ type: 'text', value: ANSWER_TEXT }])
  expect(steps[0]?.toolResults[0]?.output).toEqual(ANSWER)
  const [offered] = model.doGenerateCalls[0]?.tools ?? []
  expect(offered).toMatchObject({ name: 'ask_user_question', inputSchema: { required: ['questions'] } })
})

test('a session may be read off the call', async () => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const tools = { ask_user_question: askUserTool(asker, { session: call => `of ${call.toolCallId}` }) }
  await generateText({ ...ask, model: scripted(asks(), says('Done.')), tools })
  expect(asked[0]?.session).toBe('of call-1')
})

test('arguments with one sure reading are mended', async () => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const model = scripted(asks({ questions: JSON.stringify(ASKED.questions) }), says('Done.'))
  await generateText({ ...ask, model, tools: { ask_user_question: askUserTool(asker) } })
  expect(asked[0]?.questions).toEqual(ASKED.questions)
  expect(told(model, 1)).toEqual([{ type: 'text', value: ANSWER_TEXT }])
})

test('every fault of other arguments is told the model, which may call again', async () => {
  const { asker, asked } = await askDirectly(() => ANSWER)
  const model = scripted(asks({ questions: [{ id: 'a', options: 3 }] }), asks('{', 'call-2'), says('Sorry.'))
  const { text } = await generateText({ ...ask, model, tools: { ask_user_question: askUserTool(asker) } })
  expect(text).toBe('Sorry.')
  expect(asked).toEqual([])
  const [first, second] = told(model, 2) ?? []
  expect(first).toMatchObject({
    type: 'error-text',
    value: expect.stringMatching(
      /^Error: invalid arguments for ask_user_question: questions\[0\]\.question: .*options: .*send for example/u,
    ),
  })
  // What is no JSON never reaches a tool of the AI SDK.
  expect(second).toMatchObject({ type: 'error-text', value: expect.stringContaining('JSON parsing failed') })
})

test('a run that is aborted ends as one, and takes its question down', async () => {
  const { asker, waiting, list } = await startHost()
  const model = scripted(asks(), says('never'))
  const controller = new AbortController()
  const reason = new Error('stop')
  const running = generateText({
    ...ask,
    model,
    tools: { ask_user_question: askUserTool(asker) },
    abortSignal: controller.signal,
  })
  const { key } = await waiting()
  controller.abort(reason)
  await expect(running).rejects.toBe(reason)
  expect(key).toBe('call-1')
  expect(model.doGenerateCalls).toHaveLength(1)
  await expect.poll(async () => (await list('settled'))[0]?.settlement?.outcome).toBe('aborted')
})

test.each(FAILURES)('%s reaches the model as text, and the run goes on', async (error, value) => {
  const { asker } = await askDirectly(failWith(error))
  const model = scripted(asks(), says('Then I decide.'))
  const { text, steps } = await generateText({
    ...ask,
    model,
    tools: { ask_user_question: askUserTool(asker) },
  })
  expect(text).toBe('Then I decide.')
  expect(told(model, 1)).toEqual([{ type: 'error-text', value }])
  const failed = steps[0]?.content.find(part => part.type === 'tool-error')?.error
  expect(failed).toBeInstanceOf(AskUserToolError)
  expect(failed).toMatchObject({ code: error?.code ?? 'NO_PROVIDER' })
})

test('a call that was kept before its process ended gets the answer that was given meanwhile', async () => {
  const file = databaseFile()
  const before = await startHost(file)
  const kept: ModelMessage[] = [{ role: 'user', content: 'Set it up.' }]
  const lost = generateText({
    model: scripted(asks(), says('lost')),
    messages: kept,
    stopWhen: stepCountIs(3),
    tools: { ask_user_question: askUserTool(before.asker, { session: 's1' }) },
    experimental_onToolCallStart: ({ toolCall }) => {
      kept.push({ role: 'assistant', content: [{ ...toolCall, type: 'tool-call' }] })
    },
  })
  const { id } = await before.waiting()
  await before.leave()
  await lost

  const away = await startHost(file)
  await away.answer()
  await away.leave()

  const { asker, list } = await startHost(file)
  const messages = (await answerOpenCalls(kept, asker, { session: 's1' })) ?? expect.fail('no call is open')
  const model = scripted(says('SQLite it is.'))
  const { text } = await generateText({ model, messages })
  expect(text).toBe('SQLite it is.')
  expect(told(model, 0)).toEqual([{ type: 'text', value: ANSWER_TEXT }])
  expect((await list('settled')).map(request => request.id)).toEqual([id])
  expect(await answerOpenCalls(messages, asker)).toBeUndefined()
})

test('a run that heard its host go down goes on from the answer as if it had not', async () => {
  const file = databaseFile()
  const before = await startHost(file)
  const tools = { ask_user_question: askUserTool(before.asker, { session: 's1' }) }
  const running = generateText({ ...ask, model: scripted(asks(), says('Then I decide.')), tools })
  await before.waiting()
  await before.leave()
  const kept: ModelMessage[] = [{ role: 'user', content: 'Set it up.' }, ...saidBy(await running)]
  expect(kept.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])

  const { asker, waiting, leave } = await startHost(file)
  const still = answerOpenCalls(kept, asker, { session: 's1' })
  await waiting()
  await leave()
  const again = await startHost(file)
  const answering = answerOpenCalls((await still) ?? [], again.asker, { session: 's1' })
  await again.answer()
  const messages = (await answering) ?? expect.fail('no call is open')
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  const model = scripted(says('SQLite it is.'))
  await generateText({ model, messages })
  expect(told(model, 0)).toEqual([{ type: 'text', value: ANSWER_TEXT }])
})

const openCall = (toolCallId: string): ModelMessage => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId, toolName: 'ask_user_question', input: ASKED }],
})

test('the result of an open call stands behind it, and a call that failed otherwise is not open', async () => {
  const { asker } = await askDirectly(() => ANSWER)
  const failed: ModelMessage = {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: '2',
        toolName: 'ask_user_question',
        output: { type: 'error-text', value: 'Error: the user declined to answer' },
      },
    ],
  }
  const later: ModelMessage = { role: 'user', content: 'And?' }
  const messages = await answerOpenCalls([openCall('1'), later, openCall('2'), failed], asker)
  expect(messages).toMatchObject([
    { role: 'assistant' },
    { role: 'tool', content: [{ toolCallId: '1', output: { value: ANSWER_TEXT } }] },
    later,
    { role: 'assistant' },
    failed,
  ])
})

test('an open call that fails has a result as well, and one that is aborted has none', async () => {
  const { asker } = await askDirectly()
  expect((await answerOpenCalls([openCall('1')], asker))?.[1]?.content).toMatchObject([
    { toolCallId: '1', output: { type: 'error-text', value: FAILURES[0]?.[1] } },
  ])
  const abortSignal = AbortSignal.abort(new Error('stop'))
  await expect(answerOpenCalls([openCall('1')], asker, { abortSignal })).rejects.toThrow('stop')
})

test('a chat keeps the texts of failures where its stream is told to, so that its open calls are known', async () => {
  const file = databaseFile()
  const before = await startHost(file)
  const tools = { ask_user_question: askUserTool(before.asker, { session: 's1' }) }
  const model = new MockLanguageModelV3({
    doStream: [asks(), says('lost')].map(({ content, finishReason }) => ({
      stream: simulateReadableStream({
        chunks: [
          { type: 'stream-start' as const, warnings: [] },
          ...content.flatMap(part => (part.type === 'tool-call' ? [part] : [])),
          { type: 'finish' as const, finishReason, usage },
        ],
      }),
    })),
  })
  const streamed = streamText({ ...ask, model, tools })
  const onError = (error: unknown) => (error instanceof Error ? error.message : String(error))
  const reading = (async () => {
    let last
    for await (last of readUIMessageStream({ stream: streamed.toUIMessageStream({ onError }) }));
    return last ?? expect.fail('nothing was said')
  })()
  await before.waiting()
  await before.leave()
  const said = await reading

  const { asker, answer } = await startHost(file)
  const answering = answerOpenCalls(await convertToModelMessages([said], { tools }), asker, { session: 's1' })
  await answer()
  expect((await answering)?.at(-1)).toMatchObject({
    role: 'tool',
    content: [{ output: { value: ANSWER_TEXT } }],
  })
})

async function startApproval(model: MockLanguageModelV3) {
  const host = await startHost()
  const execute = vi.fn(({ path }: { path: string }) => `deleted ${path}`)
  const tools = {
    delete_file: tool({ inputSchema: z.object({ path: z.string() }), needsApproval: true, execute }),
  }
  const messages: ModelMessage[] = [{ role: 'user', content: 'Clean up.' }]
  const run = async () => {
    const result = await generateText({ model, messages, tools })
    messages.push(...saidBy(result))
    return result
  }
  await run()
  return { ...host, execute, messages, run }
}
const deletes = () => scripted(calls('delete_file', { path: '/tmp/a' }), says('Done.'))

test('a call that waits for approval runs once it is allowed', async () => {
  const model = deletes()
  const { approver, waiting, choose, messages, run, execute } = await startApproval(model)
  const answering = answerApprovalRequests(messages, approver, { session: 's1' })
  expect(await waiting()).toMatchObject({
    key: expect.stringContaining('call-1'),
    session: 's1',
    payload: { subject: { kind: 'tool', toolName: 'delete_file', input: { path: '/tmp/a' } } },
  })
  expect(execute).not.toHaveBeenCalled()
  await choose('allow_once')
  messages.push((await answering) ?? expect.fail('nothing waited'))
  expect((await run()).text).toBe('Done.')
  expect(execute).toHaveBeenCalledOnce()
  expect(told(model, 1)).toEqual([{ type: 'text', value: 'deleted /tmp/a' }])
  expect(await answerApprovalRequests(messages, approver)).toBeUndefined()
})

test('a denial is told the model in the words of the person, and nothing runs', async () => {
  const model = deletes()
  const { approver, choose, messages, run, execute } = await startApproval(model)
  const answering = answerApprovalRequests(messages, approver)
  await choose('deny_feedback', 'Keep it.')
  messages.push((await answering) ?? expect.fail('nothing waited'))
  await run()
  expect(execute).not.toHaveBeenCalled()
  expect(told(model, 1)).toEqual([
    {
      type: 'execution-denied',
      reason:
        'denied by the user: delete_file. It was not done. They said: "Keep it.". Do not try to do the same in another way.',
    },
  ])
})

test('that nobody decided is told the model as that, and nothing runs', async () => {
  const model = deletes()
  const { approver, dismiss, messages, run, execute } = await startApproval(model)
  const answering = answerApprovalRequests(messages, approver)
  await dismiss()
  messages.push((await answering) ?? expect.fail('nothing waited'))
  await run()
  expect(execute).not.toHaveBeenCalled()
  expect(told(model, 1)).toMatchObject([
    { type: 'execution-denied', reason: expect.stringMatching(/dismissed.*nobody has denied it\.$/u) },
  ])
})

test('an allowance for once approves once, whatever history comes back', async () => {
  const { approver, choose, messages, run, execute } = await startApproval(deletes())
  const before = [...messages]
  const answering = answerApprovalRequests(before, approver)
  await choose('allow_once')
  messages.push((await answering) ?? expect.fail('nothing waited'))
  await run()
  const again = await answerApprovalRequests(before, approver)
  expect(again?.content).toMatchObject([
    { approved: false, reason: expect.stringContaining('started before') },
  ])
  expect(execute).toHaveBeenCalledOnce()
})

test.each([
  ['of a run that ended', { path: '/tmp/a' }],
  ['with other arguments', { path: '/etc' }],
])('a response in a history %s is asked about again before it is acted on', async (_, input) => {
  const model = scripted(calls('delete_file', { path: '/tmp/a' }), says('Done.'), says('Done.'))
  const { approver, choose, dismiss, waiting, messages, run, execute } = await startApproval(model)
  const answering = answerApprovalRequests(messages, approver)
  await choose('allow_once')
  messages.push((await answering) ?? expect.fail('nothing waited'))
  const before = structuredClone(messages)
  await run()
  expect(execute).toHaveBeenCalledOnce()
  const [call] = partsOf(before)
  Object.assign(call ?? expect.fail('no call'), { input })
  const again = answerApprovalRequests(before, approver)
  if (input.path === '/etc') {
    expect(await waiting()).toMatchObject({ payload: { subject: { input } } })
    await dismiss()
  }
  messages.splice(0, Infinity, ...before, (await again) ?? expect.fail('nothing waited'))
  expect(messages.at(-1)?.content).toMatchObject([{ approved: false }])
  await run()
  expect(execute).toHaveBeenCalledOnce()
})

const partsOf = (messages: ModelMessage[]) =>
  messages.flatMap(({ role, content }) =>
    role === 'assistant' && typeof content !== 'string' ? content : [],
  )

test('a denial that is not told yet is told beside what is asked about again', async () => {
  const { approver, choose, messages } = await startApproval(deletes())
  const second = partsOf(messages).map(part => ({ ...part, toolCallId: 'call-2', approvalId: 'second' }))
  messages.push({ role: 'assistant', content: second as never })
  const answering = answerApprovalRequests(messages, approver)
  await choose('allow_once')
  await choose('deny')
  messages.push((await answering) ?? expect.fail('nothing waited'))
  expect((await answerApprovalRequests(messages, approver))?.content).toMatchObject([
    { approved: false, reason: expect.stringContaining('started before') },
    { approved: false, reason: expect.stringContaining('denied by the user') },
  ])
})

test('dates that a schema made of texts are shown as they were sent', async () => {
  const { approver, waiting, dismiss } = await startHost()
  const inputSchema = z.object({
    when: z.string().transform(text => new Date(text)),
    note: z.string().optional(),
  })
  const tools = { book: tool({ inputSchema, needsApproval: true, execute: () => 'booked' }) }
  const model = scripted(calls('book', { when: '2026-01-01T00:00:00.000Z' }))
  const { response } = await generateText({ model, prompt: 'Book it.', tools })
  const answering = answerApprovalRequests(response.messages, approver)
  expect(await waiting()).toMatchObject({
    payload: { subject: { input: { when: '2026-01-01T00:00:00.000Z' } } },
  })
  await dismiss()
  await answering
})

test('an approval that is aborted answers nothing, and uses up nothing that was allowed', async () => {
  const { approver, waiting, choose, messages } = await startApproval(deletes())
  const [last] = messages.splice(-1)
  if (last?.role !== 'assistant' || typeof last.content === 'string') expect.fail('no call')
  const second = last.content.map(part => ({ ...part, toolCallId: 'call-2', approvalId: 'second' }))
  messages.push({ ...last, content: [...last.content, ...(second as typeof last.content)] })
  const controller = new AbortController()
  const redeem = vi.fn(approver.redeem.bind(approver))
  const watched = { request: approver.request.bind(approver), redeem }
  const answering = answerApprovalRequests(messages, watched, { signal: controller.signal })
  await choose('allow_once')
  await expect.poll(async () => (await waiting()).key).toContain('call-2')
  controller.abort(new Error('stop'))
  await expect(answering).rejects.toThrow('stop')
  expect(redeem).not.toHaveBeenCalled()
})
