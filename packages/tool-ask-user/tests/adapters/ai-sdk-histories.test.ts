import { answerApprovalRequests, answerOpenCalls, type Approver } from '@handraise/tool-ask-user/ai-sdk'
import { generateText, tool, type ModelMessage, type ToolCallPart, type ToolContent } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { ANSWER, ANSWER_TEXT, ASKED, askDirectly, databaseFile, startHost } from './host.ts'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const says = (text: string) =>
  new MockLanguageModelV3({
    doGenerate: {
      content: [{ type: 'text', text }],
      finishReason: { unified: 'stop', raw: undefined },
      usage,
      warnings: [],
    },
  })

const user: ModelMessage = { role: 'user', content: 'Clean up.' }
const callTo = (
  toolName: string,
  input: unknown,
  toolCallId = 'call_0',
  more: object = {},
): ToolCallPart => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input,
  ...more,
})
const called = (...content: ToolCallPart[]): ModelMessage => ({ role: 'assistant', content })
const asksFor = (approvalId: string, ...calls: ToolCallPart[]): ModelMessage => ({
  role: 'assistant',
  content: [
    ...calls,
    ...calls.map(({ toolCallId }) => ({ type: 'tool-approval-request' as const, approvalId, toolCallId })),
  ],
})
const tells = (...content: ToolContent): ModelMessage => ({ role: 'tool', content })
const response = (approvalId: string, approved: boolean, more: object = {}) => ({
  type: 'tool-approval-response' as const,
  approvalId,
  approved,
  ...more,
})
const result = (toolName: string, value: string, toolCallId = 'call_0') => ({
  type: 'tool-result' as const,
  toolCallId,
  toolName,
  output: { type: 'text' as const, value },
})
const denies = () => {
  const request = vi.fn(
    async ({ callId }: { callId: string }) =>
      ({ outcome: 'decided', approvalId: callId, policyResult: 'deny', resolvedBy: 'user' }) as const,
  )
  return { request } satisfies Approver
}
const deleting = () => {
  const execute = vi.fn(({ path }: { path: string }) => `deleted ${path}`)
  const inputSchema = z.object({ path: z.string() })
  return { execute, tools: { delete_file: tool({ inputSchema, needsApproval: true, execute }) } }
}
const earlier = [
  user,
  called(callTo('delete_file', { path: '/a' })),
  tells(result('delete_file', 'deleted /a')),
]
const later = asksFor('z', callTo('delete_file', { path: '/etc' }))

test.each<[string, ModelMessage[]]>([
  ['an earlier call of the same id had a result', [...earlier, user, later, tells(response('z', true))]],
  [
    'another response of the same id says no',
    [user, later, tells(response('z', true), response('z', false))],
  ],
  [
    'its request has the id of an earlier one',
    [...earlier, later, tells(response('z', true)), later, tells(response('z', true))],
  ],
])('a response that the next run would act on is asked about where %s', async (_, messages) => {
  const approver = denies()
  const answers = await answerApprovalRequests(messages, approver)
  expect(approver.request).toHaveBeenCalledOnce()
  expect(approver.request.mock.calls[0]?.[0]).toMatchObject({ subject: { input: { path: '/etc' } } })
  const { tools, execute } = deleting()
  await generateText({
    model: says('Done.'),
    tools,
    messages: [...messages, answers ?? expect.fail('not asked')],
  })
  expect(execute).not.toHaveBeenCalled()
})

test('a call that has its result is not asked about, nor one whose response was acted on', async () => {
  const approver = denies()
  const over = [user, later, tells(response('z', true), result('delete_file', 'deleted'))]
  expect(await answerApprovalRequests(over, approver)).toBeUndefined()
  const goneOn = [user, later, tells(response('z', true)), tells(result('delete_file', 'deleted'))]
  expect(await answerApprovalRequests([...goneOn, user], approver)).toBeUndefined()
  expect(approver.request).not.toHaveBeenCalled()
})

test('a response for a call of the provider is asked about again, and refused where it does not hold', async () => {
  const executed = { providerExecuted: true }
  const asked = asksFor('z', callTo('mcp', { path: '/etc' }, 'call_0', executed))
  const approver = denies()
  expect((await answerApprovalRequests([user, asked], approver))?.content).toMatchObject([
    { approved: false, providerExecuted: true },
  ])
  const told = [user, asked, tells(response('z', true, executed))]
  await expect(answerApprovalRequests(told, approver)).rejects.toThrow(/does not hold any more/u)
  expect(approver.request).toHaveBeenCalledTimes(2)
  const allows: Approver = {
    request: async ({ callId }) =>
      ({ outcome: 'decided', approvalId: callId, policyResult: 'allow', resolvedBy: 'user' }) as const,
  }
  expect(await answerApprovalRequests(told, allows)).toBeUndefined()
  const goneOn: ModelMessage[] = [...told, { role: 'assistant', content: 'Done.' }]
  expect(await answerApprovalRequests(goneOn, approver)).toBeUndefined()
})

test('a call whose id comes again has its own result, and each open one its own answer', async () => {
  const { asker } = await askDirectly(() => ANSWER)
  const ask = called(callTo('ask_user_question', ASKED))
  const first = tells(result('ask_user_question', 'first'))
  const said: ModelMessage = { role: 'assistant', content: 'Well.' }
  const gone =
    'Error: the place where the question was shown went away before the user answered; nothing was chosen, ask again later'
  const left = tells({
    ...result('ask_user_question', ''),
    output: { type: 'error-text', value: gone },
  })
  const answered = { role: 'tool', content: [{ output: { value: ANSWER_TEXT } }] }
  expect(await answerOpenCalls([user, ask, first, said, user, ask], asker)).toMatchObject([
    user,
    ask,
    first,
    said,
    user,
    ask,
    answered,
  ])
  expect(await answerOpenCalls([user, ask, first, said, user, ask, left, said], asker)).toMatchObject([
    user,
    ask,
    first,
    said,
    user,
    ask,
    answered,
  ])
  expect(await answerOpenCalls([user, ask, user, ask, first], asker)).toMatchObject([
    user,
    ask,
    answered,
    user,
    ask,
    first,
  ])
})

test('a run goes on from an open call that has another of its step beside it, with the results of both', async () => {
  const { asker } = await askDirectly(() => ANSWER)
  const step = called(callTo('list', {}, 'l'), callTo('ask_user_question', ASKED, 'q'))
  const messages = await answerOpenCalls([user, step, tells(result('list', 'files', 'l'))], asker)
  const model = says('Done.')
  expect((await generateText({ model, messages: messages ?? expect.fail('no call is open') })).text).toBe(
    'Done.',
  )
  const told = model.doGenerateCalls[0]?.prompt.flatMap(({ role, content }) =>
    role === 'tool' ? content : [],
  )
  expect(told).toMatchObject([
    { toolCallId: 'q', output: { value: ANSWER_TEXT } },
    { toolCallId: 'l', output: { value: 'files' } },
  ])
})

const waits = [user, asksFor('z', callTo('delete_file', { path: '/a' }))]

test('an approval that was withdrawn by an abort is asked for anew, and what a person decided is not', async () => {
  const { approver, waiting, list, choose } = await startHost()
  const controller = new AbortController()
  const aborted = answerApprovalRequests(waits, approver, { signal: controller.signal })
  const { id } = await waiting()
  controller.abort(new Error('stop'))
  await expect(aborted).rejects.toThrow('stop')
  await expect.poll(async () => (await list('pending')).length).toBe(0)
  const again = answerApprovalRequests(waits, approver)
  expect((await waiting()).id).not.toBe(id)
  await choose('deny')
  expect((await again)?.content).toMatchObject([{ approved: false }])
  expect((await answerApprovalRequests(waits, approver))?.content).toMatchObject([
    { approved: false, reason: expect.stringContaining('denied by the user') },
  ])
  expect(await list('pending')).toEqual([])
})

test('an approval that somebody else withdrew is not asked for anew', async () => {
  const { ctx, approver, waiting, list } = await startHost()
  const answering = answerApprovalRequests(waits, approver, { session: 's1' })
  await waiting()
  await ctx.userApprovals.endSession('s1')
  expect((await answering)?.content).toMatchObject([
    { approved: false, reason: expect.stringContaining('the session has ended') },
  ])
  expect(await list('pending')).toEqual([])
})

test('a host that goes down before what was allowed is claimed refuses nothing', async () => {
  const file = databaseFile()
  const { approver, choose, leave } = await startHost(file)
  const leaving: Approver = {
    request: request => approver.request(request),
    async redeem(outcome) {
      await leave()
      return approver.redeem(outcome as never)
    },
  }
  const answering = answerApprovalRequests(waits, leaving)
  const ended = expect(answering).rejects.toMatchObject({ code: 'APPROVAL_LEFT_OPEN' })
  await choose('allow_once')
  await ended
  const after = await startHost(file)
  expect((await answerApprovalRequests(waits, after.approver))?.content).toMatchObject([{ approved: true }])
})
