import { askUserTool, type RefusedChild } from '@handraise/tool-ask-user'
import { runTool } from '@handraise/tools'
import { UserQuestionError, type AskUserQuestionRequest, type Question } from '@handraise/user-questions'
import type { Context } from 'cordis'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openHost, skipAll } from './host.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
const CHECKS = {
  id: 'checks',
  question: 'Which checks?',
  options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
  multi_select: true,
}
const DELEGATED =
  "human interaction is unavailable while the calling agent is owned by another live agent; include the unresolved question or decision in the child agent's final result"

describe('what the model is told of the tool', () => {
  test('is small and holds only the fields that are its to set', async () => {
    const { ctx } = await openHost()
    const [schema, ...others] = ctx.tools.schemas()
    expect(others).toEqual([])
    expect(schema?.name).toBe('ask_user_question')
    expect(Buffer.byteLength(JSON.stringify(schema?.parameters))).toBeLessThanOrEqual(1000)
    expect(schema?.parameters).toEqual({
      type: 'object',
      properties: {
        questions: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              id: { type: 'string' },
              question: { type: 'string' },
              header: { type: 'string', description: 'At most 12 characters' },
              options: {
                type: 'array',
                items: {
                  type: 'object',
                  properties: { label: { type: 'string' }, description: { type: 'string' } },
                  required: ['label'],
                },
              },
              multi_select: { type: 'boolean' },
            },
            required: ['id', 'question'],
          },
        },
      },
      required: ['questions'],
    })
  })

  test('names the small limits and how to recommend', async () => {
    const { ctx } = await openHost()
    const description = ctx.tools.schemas()[0]?.description
    expect(description).toContain('At most 4 questions, 4 options each')
    expect(description).toContain('Put the option you recommend first and end its label with "(Recommended)"')
    expect(description).toContain('never offer "Other"')
  })
})

describe('a call that is answered', () => {
  test('gives the answer as compact JSON', async () => {
    const answers = [{ id: 'db', selected: ['SQLite'] }]
    const { call, asked } = await openHost(() => ({ answers }))
    expect(await call({ questions: [STORE] })).toEqual({
      isError: false,
      value: { answers },
      content: '{"answers":[{"id":"db","selected":["SQLite"]}]}',
    })
    expect(asked).toHaveLength(1)
    expect(asked[0]?.questions).toEqual([STORE])
  })

  test('waits for the provider, whatever else is said to be allowed', async () => {
    let answer: (value: unknown) => void = () => {}
    const { call, asked } = await openHost(
      () =>
        new Promise(resolve => {
          answer = resolve
        }),
    )
    let ended = false
    const calling = call({ questions: [STORE], allow: ['*'], mode: 'bypass' }).finally(() => (ended = true))
    await new Promise(resolve => {
      setTimeout(resolve, 20)
    })
    expect(ended).toBe(false)
    expect(asked).toHaveLength(1)
    answer({ answers: [{ id: 'db', selected: ['SQLite'] }] })
    expect(await calling).toMatchObject({ value: { answers: [{ id: 'db', selected: ['SQLite'] }] } })
    expect(asked).toHaveLength(1)
  })

  test('passes labels marked as recommended through unchanged', async () => {
    const options = [{ label: 'SQLite (Recommended)', description: 'One file.' }, { label: 'Postgres' }]
    const { call, asked } = await openHost(() => ({
      answers: [{ id: 'db', selected: ['SQLite (Recommended)'] }],
    }))
    const { content } = await call({ questions: [{ ...STORE, options }] })
    expect(asked[0]?.questions).toEqual([{ ...STORE, options }])
    expect(content).toBe('{"answers":[{"id":"db","selected":["SQLite (Recommended)"]}]}')
  })

  test('gives labels and text of a multi-select, each where it is used', async () => {
    for (const [answer, content] of [
      [{ selected: ['Lint', 'Tests'], custom: 'docs' }, '"selected":["Lint","Tests"],"custom":"docs"'],
      [{ selected: ['Tests', 'Lint'] }, '"selected":["Lint","Tests"]'],
      [{ selected: [], custom: 'docs' }, '"selected":[],"custom":"docs"'],
      [{ selected: ['Lint'], custom: ' ' }, '"selected":["Lint"]'],
      [{ selected: [] }, '"selected":[]'],
    ] as const) {
      const { call, asked } = await openHost(() => ({ answers: [{ id: 'checks', ...answer }] }))
      const result = await call({ questions: [CHECKS] })
      expect(asked[0]?.questions[0]).toMatchObject({ multiSelect: true })
      expect(asked[0]?.questions[0]).not.toHaveProperty('multi_select')
      expect(result.content).toBe(`{"answers":[{"id":"checks",${content}}]}`)
    }
  })

  test('maps multi_select and adds nothing where it is absent', async () => {
    const { call, asked } = await openHost(skipAll)
    await call({ questions: [CHECKS, { ...CHECKS, id: 'b', multi_select: false }, STORE] })
    expect(asked[0]?.questions.map(question => question.multiSelect)).toEqual([true, false, undefined])
    expect(asked[0]?.questions[2]).not.toHaveProperty('multiSelect')
  })

  test('quotes the words of the person and adds none', async () => {
    const custom = 'wait, explain the "difference" first'
    const { call } = await openHost(() => ({ answers: [{ id: 'db', selected: [], custom }] }))
    const { content } = await call({ questions: [STORE] })
    expect(content).toBe(`{"answers":[{"id":"db","selected":[],"custom":${JSON.stringify(custom)}}]}`)
    expect(content).not.toMatch(/continue|proceed/iu)
  })

  test('keeps a label with a comma as one label', async () => {
    const options = ['Yes, always', 'Yes', 'always'].map(label => ({ label }))
    const { call } = await openHost(() => ({ answers: [{ id: 'db', selected: ['Yes, always'] }] }))
    expect((await call({ questions: [{ ...STORE, options }] })).content).toContain('["Yes, always"]')
  })

  test('echoes the ids it made for questions without one', async () => {
    const { call, asked } = await openHost(skipAll)
    const { content } = await call({ questions: [{ question: 'A?' }, { question: 'B?' }] })
    expect(asked[0]?.questions.map(({ id }) => id)).toEqual(['q1', 'q2'])
    expect(content).toBe('{"answers":[{"id":"q1","selected":[]},{"id":"q2","selected":[]}]}')
  })

  test('is asked with the header, the agent, the session and its own id as the key', async () => {
    const { ctx, call, asked } = await openHost(skipAll)
    const agent = { id: 'resumed', session: { header: { delegationDepth: 1 } } }
    ctx.agents.enter(agent)
    await call({ questions: [{ ...STORE, header: 'Store' }] }, { agent, session: 's', callId: 'call-7' })
    expect(asked[0]).toMatchObject({ session: 's', key: 'call-7', questions: [{ header: 'Store' }] })
    expect(asked[0]?.agent).toBe(agent)
  })

  test('at the same time as others gives each its own answer', async () => {
    const { call } = await openHost(async ({ questions }) => {
      await new Promise(resolve => {
        setTimeout(resolve, questions[0]?.id === 'a' ? 10 : 0)
      })
      return { answers: [{ id: questions[0]?.id, selected: [], custom: `for ${questions[0]?.id}` }] }
    })
    const results = await Promise.all(
      ['a', 'b', 'c'].map(id => call({ questions: [{ id, question: `${id}?` }] }, { callId: id })),
    )
    expect(results.map(({ content }) => content)).toEqual(
      ['a', 'b', 'c'].map(id => `{"answers":[{"id":"${id}","selected":[],"custom":"for ${id}"}]}`),
    )
  })
})

describe('a call that fails', () => {
  test('without a provider says so, and blames nobody', async () => {
    const { call } = await openHost()
    const message = 'no user-questions provider is registered'
    const result = await call({ questions: [STORE] })
    expect(result).toEqual({
      isError: true,
      error: { name: 'UserQuestionError', code: 'NO_PROVIDER', message },
      content: `Error: ${message}`,
    })
    expect(result.content).not.toMatch(/denied|declined|the user/u)
  })

  test('without questions says so, and asks nobody', async () => {
    const { call, asked } = await openHost(skipAll)
    const message = 'ask_user_question requires at least one question'
    expect(await call({ questions: [] })).toEqual({
      isError: true,
      error: { name: 'UserQuestionError', code: 'EMPTY_QUESTIONS', message },
      content: `Error: ${message}`,
    })
    expect(asked).toEqual([])
  })

  test('with an agent that is not live asks nobody', async () => {
    const { call, asked } = await openHost(skipAll)
    expect(await call({ questions: [STORE] }, { agent: { id: 'stranger' } })).toMatchObject({
      error: { code: 'CALLER_NOT_LIVE' },
      content: 'Error: human interaction requires the exact live calling agent when an agent is supplied',
    })
    expect(asked).toEqual([])
  })

  test('by an empty success claims no answer', async () => {
    const { call } = await openHost(() => ({ answers: [] }))
    const result = await call({ questions: [STORE] })
    expect(result).toMatchObject({ isError: true, error: { name: 'UserQuestionError', code: 'BAD_ANSWER' } })
    expect(result.content).toMatch(/answers: question "db" has no entry.*nothing was chosen$/u)
  })

  test('by a provider that throws gives its words', async () => {
    const { call } = await openHost(() => Promise.reject(new Error('no paper')))
    expect(await call({ questions: [STORE] })).toMatchObject({
      isError: true,
      error: { code: 'PROVIDER_FAILED' },
      content:
        'Error: the question could not be completed: the provider failed: no paper; nothing was chosen',
    })
  })

  test('with the code and the words of how the person ended it', async () => {
    for (const error of [
      new UserQuestionError('ASK_CANCELLED', { answers: [{ id: 'db', selected: ['SQLite'] }] }),
      new UserQuestionError('ASK_DECLINED'),
      new UserQuestionError('ASK_CLARIFIED', { text: 'why?' }),
      new UserQuestionError('ASK_INTERRUPTED'),
      new UserQuestionError('ASK_TIMED_OUT'),
      new UserQuestionError('ASK_UNAVAILABLE', { reason: 'not-interactive' }),
    ]) {
      const { call } = await openHost(() => Promise.reject(error))
      const { code, message } = error
      expect(await call({ questions: [STORE] })).toEqual({
        isError: true,
        error: { name: 'UserQuestionError', code, message },
        content: `Error: ${message}`,
      })
    }
  })

  test('when its signal aborts, although the provider goes on', async () => {
    const { ctx, call, asked } = await openHost(() => new Promise(() => {}))
    const controller = new AbortController()
    const calling = call({ questions: [STORE] }, { signal: controller.signal })
    await Promise.resolve()
    expect(asked).toHaveLength(1)
    controller.abort()
    expect(await calling).toMatchObject({
      error: { code: 'ASK_ABORTED' },
      content: 'Error: ask_user_question was aborted before the user answered',
    })
    expect(ctx.userQuestions.pending()).toEqual([])
    expect(asked[0]?.signal.aborted).toBe(true)
  })

  test('never throws into the runtime, whatever it is sent', async () => {
    const { call } = await openHost(skipAll)
    const value = fc.oneof(fc.anything(), fc.json(), fc.jsonValue())
    const question = fc.record(
      { id: value, question: value, options: value, multi_select: value },
      { requiredKeys: [] },
    )
    const sent = fc.oneof(value, fc.record({ questions: fc.oneof(value, fc.array(question)) }))
    await fc.assert(
      fc.asyncProperty(sent, async args => {
        const result = await call(args)
        expect(result.content.startsWith(result.isError ? 'Error: ' : '{"answers":[')).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a child that a live agent owns', () => {
  const enterChild = (
    ctx: Context,
  ): { readonly root: () => void; readonly child: { readonly id: string } } => {
    const owner = { id: 'root' }
    const child = { id: 'child' }
    const root = ctx.agents.enter(owner)
    ctx.agents.enter(child, owner)
    return { root, child }
  }

  test('is refused, told that it is final, and nobody is asked', async () => {
    const { ctx, call, asked } = await openHost(skipAll)
    const { child } = enterChild(ctx)
    expect(await call({ questions: [STORE] }, { agent: child })).toEqual({
      isError: true,
      error: { name: 'UserQuestionError', code: 'DELEGATED_CALLER', message: DELEGATED },
      content: `Error: ${DELEGATED}. This is final for this run: do not call ask_user_question again.`,
    })
    expect(asked).toEqual([])
  })

  test('that tries again gets the same words, and its tries are counted', async () => {
    const { ctx, call, asked } = await openHost(skipAll)
    const { child } = enterChild(ctx)
    const other = { id: 'other' }
    ctx.agents.enter(other, child)
    const refused: RefusedChild[] = []
    ctx.on('tool-ask-user/refused', event => void refused.push(event))
    const contents = new Set<string>()
    for (const question of ['Which?', 'Which?', 'Please, which?', 'Which one?']) {
      contents.add((await call({ questions: [{ ...STORE, question }] }, { agent: child })).content)
    }
    await call({ questions: [STORE] }, { agent: other })
    expect(contents.size).toBe(1)
    expect(refused.map(({ agent, tries }) => [agent.id, tries])).toEqual([
      ['child', 1],
      ['child', 2],
      ['child', 3],
      ['child', 4],
      ['other', 1],
    ])
    expect(refused[0]?.agent).toBe(child)
    expect(asked).toEqual([])
  })

  test('may ask once its owner has left', async () => {
    const { ctx, call, asked } = await openHost(skipAll)
    const { root, child } = enterChild(ctx)
    await call({ questions: [STORE] }, { agent: child })
    root()
    expect(await call({ questions: [STORE] }, { agent: child })).toMatchObject({ isError: false })
    expect(asked).toHaveLength(1)
  })

  test('may lose the tool from a listener, which changes no refusal', async () => {
    const { ctx, call, tool } = await openHost(skipAll)
    const { child } = enterChild(ctx)
    ctx.on('tool-ask-user/refused', () => void tool.dispose())
    ctx.on('tool-ask-user/refused', () => {
      throw new Error('a listener that throws')
    })
    expect(await call({ questions: [STORE] }, { agent: child })).toMatchObject({
      error: { code: 'DELEGATED_CALLER' },
    })
    await tool.dispose()
    expect(await call({ questions: [STORE] }, { agent: child })).toMatchObject({
      error: { code: 'UNKNOWN_TOOL' },
    })
  })

  test('is the only one whose refusals are counted', async () => {
    const { ctx, call } = await openHost()
    const refused: RefusedChild[] = []
    ctx.on('tool-ask-user/refused', event => void refused.push(event))
    const agent = { id: 'root' }
    ctx.agents.enter(agent)
    await call({ questions: [STORE] }, { agent })
    await call({ questions: [] }, { agent })
    await call({ questions: [STORE] }, { agent: { id: 'stranger' } })
    expect(refused).toEqual([])
  })
})

describe('the tool as an object of its own', () => {
  const CALL = { callId: 'c', signal: new AbortController().signal }

  test('asks anything that takes a request, with the caller’s own signal', async () => {
    const requests: AskUserQuestionRequest[] = []
    const answer = { answers: [{ id: 'db', selected: ['SQLite'] }] }
    const tool = askUserTool({
      ask(request) {
        requests.push(request)
        return Promise.resolve(answer)
      },
    })
    expect(await runTool(tool, { questions: [STORE] }, CALL)).toMatchObject({ isError: false, value: answer })
    expect(requests).toEqual([{ questions: [STORE], key: 'c', signal: CALL.signal }])
    expect(requests[0]?.signal).toBe(CALL.signal)
  })

  test('refuses all the same when the counter of tries throws', async () => {
    const tool = askUserTool({ ask: () => Promise.reject(new UserQuestionError('DELEGATED_CALLER')) }, () => {
      throw new Error('broken counter')
    })
    expect(await runTool(tool, { questions: [STORE] }, { ...CALL, agent: { id: 'child' } })).toMatchObject({
      isError: true,
      error: { code: 'DELEGATED_CALLER' },
    })
  })

  test('gives an error result when the asker throws what is no error', async () => {
    const tool = askUserTool({
      ask: () => {
        throw 'gone' as unknown as Error
      },
    })
    expect(await runTool(tool, { questions: [STORE] }, CALL)).toMatchObject({
      isError: true,
      content: 'Error: gone',
    })
  })
})
