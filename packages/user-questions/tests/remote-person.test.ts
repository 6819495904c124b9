import { remotePerson, typedLine, type PersonAct } from '@handraise/user-questions/testing'
import { readReply, type ProviderRequest, type Question } from '@handraise/user-questions/types'
import { expect, test } from 'vitest'

const options = [{ label: 'Lint' }, { label: 'Types, strict' }, { label: 'Tests' }]
const ONE: Question = { id: 'one', question: 'Which check?', options }
const SOME: Question = { id: 'some', question: 'Which checks?', options, multiSelect: true }

function requestOf(id: string): ProviderRequest {
  return { id, questions: [ONE, SOME], signal: new AbortController().signal, engaged() {} }
}

async function before(act: PersonAct) {
  const looks: string[] = []
  const remote = remotePerson(({ id }) => {
    looks.push(id)
    return act
  })
  const provider = remote.before({ name: 'board', ask: async () => ({ answers: [] }) })
  await provider.ask(requestOf('r1'))
  return { looks, provider, actAt: (question: string) => remote.actAt('r1', question) }
}

test('a person looks at a request once, however many questions of it are shown', async () => {
  const answers = [
    { id: 'some', selected: ['Tests'] },
    { id: 'one', selected: [] },
  ]
  const { looks, provider, actAt } = await before({ act: 'answer', answers })
  expect(provider.name).toBe('board')
  expect(looks).toEqual([])
  expect(['one', 'some'].map(actAt)).toEqual([
    { act: 'answer', answer: answers[1] },
    { act: 'answer', answer: answers[0] },
  ])
  expect(looks).toEqual(['r1'])
})

test('a dismissal comes after what is answered before it', async () => {
  const answer = { id: 'one', selected: ['Lint'] }
  const { actAt } = await before({ act: 'dismiss', after: [answer] })
  expect(['one', 'some'].map(actAt)).toEqual([{ act: 'answer', answer }, { act: 'dismiss' }])
})

test.each(['nothing', 'decline'] as const)('to do %s is the same at each question', async act => {
  const { actAt } = await before({ act })
  expect(actAt('some')).toEqual({ act })
})

test('a request that was not asked is an error that names it', () => {
  const { actAt } = remotePerson(() => ({ act: 'nothing' }))
  expect(() => actAt('r2', 'one')).toThrow(/no request "r2" was asked/u)
})

test('what is typed reads as what the person does', () => {
  for (const value of [
    { selected: ['Types, strict'] },
    { selected: [] },
    { selected: [], custom: 'a text of my own' },
    { selected: [], custom: '2' },
    { selected: [], custom: '/skip' },
  ]) {
    const answer = { id: 'one', ...value }
    expect(readReply(ONE, typedLine(ONE, { act: 'answer', answer }) ?? '')).toEqual({ answer })
  }
  const answer = { id: 'some', selected: ['Lint', 'Tests'] }
  expect(readReply(SOME, typedLine(SOME, { act: 'answer', answer }) ?? '')).toEqual({ answer })
  expect(readReply(ONE, typedLine(ONE, { act: 'dismiss' }) ?? '').end?.code).toBe('ASK_CANCELLED')
  expect(readReply(ONE, typedLine(ONE, { act: 'decline' }) ?? '').end?.code).toBe('ASK_DECLINED')
  expect(typedLine(ONE, { act: 'nothing' })).toBeUndefined()
})
