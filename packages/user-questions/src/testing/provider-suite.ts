import assert from 'node:assert/strict'
import { checkAnswer } from '../answer-rules.ts'
import { UserQuestionError, type UserQuestionErrorCode } from '../error.ts'
import type { Answer, AskUserQuestionAnswer, Question } from '../question.ts'
import type { ProviderRequest, UserQuestionProvider } from '../request.ts'
import type { Ability, Person, PersonAct, ProviderHarness } from './provider-harness.ts'

/** One rule of the contract. `run` rejects when the provider breaks it. */
export interface ProviderCase {
  readonly name: string
  readonly run: () => Promise<void>
}

/**
 * The contract of a provider, one case a rule, free of any test framework:
 *
 *     for (const { name, run } of providerSuite(harness)) test(name, run)
 */
export function providerSuite(harness: ProviderHarness): ProviderCase[] {
  return CASES.filter(({ needs = [] }) => !needs.some(ability => harness.lacks?.[ability] !== undefined)).map(
    ({ name, run }) => ({
      name,
      run: () => withProvider(harness, run),
    }),
  )
}

interface Bench {
  /** Asks the questions; the person does `act`. */
  readonly ask: (
    questions: readonly Question[],
    act: PersonAct,
    signal?: AbortSignal,
  ) => Promise<AskUserQuestionAnswer>
  /** How many requests the person was shown. */
  readonly shown: () => number
  /** Resolves when the person was shown `count` requests. */
  readonly untilShown: (count: number) => Promise<void>
  /** Rejects when `promise` takes longer than the harness allows. */
  readonly soon: <T>(promise: Promise<T>, what: string) => Promise<T>
}

interface Case {
  readonly name: string
  readonly needs?: readonly Ability[]
  readonly run: (bench: Bench) => Promise<unknown>
}

// Frozen, as the seam hands questions over.
const STORE: Question = frozen({
  id: 'db',
  question: 'Which store?',
  header: 'Store',
  options: [
    { label: 'Postgres', description: 'A server.' },
    { label: 'SQLite (Recommended)' },
    { label: 'Yes, always' },
    { label: 'MySQL' },
  ],
})
const CHECKS: Question = frozen({
  id: 'checks',
  question: 'Which checks?',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types, strict' }, { label: 'Tests' }],
})
const NAME: Question = frozen({ id: 'name', question: 'What is it called?' })

const CASES: readonly Case[] = [
  {
    name: 'answers a single choice with the label exactly as offered',
    async run(bench) {
      for (const { label } of STORE.options ?? [])
        await assertAnswers(bench, [STORE], [{ id: 'db', selected: [label] }])
    },
  },
  {
    name: 'answers a multi-select with every chosen label in a list',
    needs: ['multiSelect'],
    run: bench => assertAnswers(bench, [CHECKS], [{ id: 'checks', selected: ['Lint', 'Types, strict'] }]),
  },
  {
    name: 'keeps free text beside the labels of a multi-select',
    needs: ['multiSelect', 'freeText', 'textBesideLabels'],
    run: bench =>
      assertAnswers(
        bench,
        [CHECKS],
        [{ id: 'checks', selected: ['Lint', 'Tests'], custom: 'also docs, please' }],
      ),
  },
  {
    name: 'lets free text replace the choice of a single-select',
    needs: ['freeText'],
    run: bench => assertAnswers(bench, [STORE], [{ id: 'db', selected: [], custom: 'the small one' }]),
  },
  {
    name: 'passes free text on word for word',
    needs: ['freeText'],
    run: bench =>
      assertAnswers(
        bench,
        [NAME],
        [{ id: 'name', selected: [], custom: 'Wait: 1, 2; "explain" the difference, première 選択肢 🚀' }],
      ),
  },
  {
    name: 'keeps a skipped question as an entry of its own',
    needs: ['skip'],
    run: bench =>
      assertAnswers(
        bench,
        [STORE, CHECKS, NAME],
        [
          { id: 'db', selected: [] },
          { id: 'checks', selected: [] },
          { id: 'name', selected: [] },
        ],
      ),
  },
  {
    name: 'answers several questions under their own ids',
    run: bench =>
      assertAnswers(
        bench,
        [
          { ...STORE, id: '2' },
          { ...STORE, id: '10', question: 'Which cache?' },
          { ...STORE, id: '1', question: 'Which queue?' },
        ],
        [
          { id: '2', selected: ['Postgres'] },
          { id: '10', selected: ['Yes, always'] },
          { id: '1', selected: ['MySQL'] },
        ],
      ),
  },
  {
    name: 'keeps questions of the same text and header apart',
    run: bench =>
      assertAnswers(
        bench,
        [STORE, { ...STORE, id: 'db2' }],
        [
          { id: 'db', selected: ['Postgres'] },
          { id: 'db2', selected: ['Yes, always'] },
        ],
      ),
  },
  {
    name: 'takes an id such as __proto__ like any other',
    run: bench =>
      assertAnswers(bench, [{ ...STORE, id: '__proto__' }], [{ id: '__proto__', selected: ['Postgres'] }]),
  },
  {
    name: 'gives requests made at once each its own answer',
    async run({ ask, soon }) {
      const labels = ['Postgres', 'MySQL', 'Yes, always']
      const answers = await soon(
        Promise.all(
          labels.map(label => ask([STORE], { act: 'answer', answers: [{ id: 'db', selected: [label] }] })),
        ),
        'answering three requests made at once',
      )
      assert.deepEqual(
        answers.map(({ answers: [answer] }) => answer?.selected),
        labels.map(label => [label]),
      )
    },
  },
  {
    name: 'waits as long as the person does nothing',
    needs: ['wait'],
    async run({ ask, untilShown, soon }) {
      const controller = new AbortController()
      const asking = ask([STORE], { act: 'nothing' }, controller.signal)
      await soon(untilShown(1), 'showing the request')
      const first = await Promise.race([asking.then(...settledAs), pause(150).then(() => 'waiting')])
      asking.catch(() => {})
      controller.abort()
      assert.equal(first, 'waiting', `the provider ${first} although the person did nothing`)
    },
  },
  {
    name: 'ends when the request is aborted',
    needs: ['wait'],
    async run({ ask, untilShown, soon }) {
      const controller = new AbortController()
      const asking = ask([STORE], { act: 'nothing' }, controller.signal)
      await soon(untilShown(1), 'showing the request')
      controller.abort()
      const ended = await soon(asking.then(...settledAs), 'ending after the abort')
      assert.equal(ended, 'rejected', 'the provider resolved a request that was aborted')
    },
  },
  {
    name: 'does not show a request that was aborted before',
    async run({ ask, shown, soon }) {
      const asking = ask(
        [STORE],
        { act: 'answer', answers: [{ id: 'db', selected: ['Postgres'] }] },
        AbortSignal.abort(),
      )
      const ended = await soon(asking.then(...settledAs), 'ending a request aborted before')
      assert.deepEqual({ ended, shown: shown() }, { ended: 'rejected', shown: 0 })
    },
  },
  {
    name: 'shows the next request after an abort',
    needs: ['wait'],
    async run(bench) {
      const { ask, untilShown, soon } = bench
      const controller = new AbortController()
      const asking = ask([STORE], { act: 'nothing' }, controller.signal)
      await soon(untilShown(1), 'showing the request')
      controller.abort()
      await Promise.race([asking.then(...settledAs), pause(150)])
      await assertAnswers(bench, [STORE], [{ id: 'db', selected: ['Postgres'] }])
    },
  },
  {
    name: 'leaves no listener on the signal',
    async run({ ask, soon }) {
      const counted = countListeners(new AbortController().signal)
      const act: PersonAct = { act: 'answer', answers: [{ id: 'db', selected: ['Postgres'] }] }
      await soon(ask([STORE], act, counted.signal), 'answering')
      assert.equal(counted.listeners(), 0)
    },
  },
  {
    name: 'ends a dismissal with ASK_CANCELLED',
    needs: ['dismiss'],
    run: ({ ask, soon }) => assertEnds(soon(ask([STORE], { act: 'dismiss' }), 'dismissing'), 'ASK_CANCELLED'),
  },
  {
    name: 'keeps what was answered before a dismissal',
    needs: ['dismiss', 'partial'],
    async run({ ask, soon }) {
      const after = [{ id: 'db', selected: ['Postgres'] }]
      const error = await assertEnds(
        soon(ask([STORE, CHECKS], { act: 'dismiss', after }), 'dismissing'),
        'ASK_CANCELLED',
      )
      assert.deepEqual('answers' in error.details ? error.details.answers : undefined, after)
    },
  },
  {
    name: 'ends a refusal to answer with ASK_DECLINED',
    needs: ['decline'],
    run: ({ ask, soon }) => assertEnds(soon(ask([STORE], { act: 'decline' }), 'declining'), 'ASK_DECLINED'),
  },
  {
    name: 'leaves the request as it was handed over',
    async run(bench) {
      const questions = structuredClone([STORE])
      await assertAnswers(bench, questions, [{ id: 'db', selected: ['Postgres'] }])
      assert.deepEqual(questions, [STORE])
    },
  },
]

async function withProvider(harness: ProviderHarness, run: Case['run']): Promise<void> {
  const acts = new Map<string, PersonAct>()
  const onShown = new Set<() => void>()
  let shown = 0
  let asked = 0
  const person: Person = ({ id }) => {
    const act = acts.get(id)
    assert.ok(act !== undefined, `the person was shown a request that was not asked: ${id}`)
    shown += 1
    for (const listener of onShown) listener()
    return act
  }
  const { provider, close } = await harness.open(person)
  try {
    await run({
      shown: () => shown,
      soon: (promise, what) => within(promise, harness.withinMs ?? 5_000, what),
      untilShown: count =>
        new Promise(resolve => {
          const check = (): void => void (shown >= count && resolve())
          onShown.add(check)
          check()
        }),
      ask(questions, act, signal = new AbortController().signal) {
        const id = `request-${(asked += 1)}`
        acts.set(id, act)
        return callProvider(provider, { id, questions, signal, engaged: () => {} })
      },
    })
  } finally {
    await close()
  }
}

async function callProvider(
  provider: UserQuestionProvider,
  request: ProviderRequest,
): Promise<AskUserQuestionAnswer> {
  return provider.ask(request)
}

async function assertAnswers(
  { ask, soon }: Bench,
  questions: readonly Question[],
  answers: readonly Answer[],
): Promise<void> {
  const given = await soon(ask(questions, { act: 'answer', answers }), 'answering')
  const check = checkAnswer(questions, given)
  assert.ok(check.ok, `the answer breaks the rules: ${JSON.stringify(check)}`)
  const said = check.answer.answers.map(({ by: _, ...answer }) => answer)
  assert.deepEqual(said, answers)
}

async function assertEnds(asking: Promise<unknown>, code: UserQuestionErrorCode): Promise<UserQuestionError> {
  const ended = await asking.then(
    value => assert.fail(`expected ${code}, resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  assert.ok(
    UserQuestionError.isInstance(ended),
    `expected a UserQuestionError of ${code}, got ${String(ended)}`,
  )
  assert.equal(ended.code, code)
  return ended
}

function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value) as unknown[]) {
    if (typeof part === 'object' && part !== null) frozen(part)
  }
  return Object.freeze(value)
}

const settledAs = [() => 'resolved', () => 'rejected'] as const

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

async function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

function countListeners(signal: AbortSignal): { signal: AbortSignal; listeners(): number } {
  const live = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  return {
    listeners: () => live.size,
    signal: Object.assign(signal, {
      addEventListener(type: string, listener: () => void, options?: { once?: boolean }) {
        live.add(listener)
        add(type, listener, options)
      },
      removeEventListener(type: string, listener: () => void) {
        live.delete(listener)
        remove(type, listener)
      },
    }),
  }
}
