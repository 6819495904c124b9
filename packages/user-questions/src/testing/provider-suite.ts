import assert from 'node:assert/strict'
import { checkAnswer } from '../answer-rules.ts'
import { UserQuestionError, type UserQuestionErrorCode } from '../error.ts'
import type { Answer, AskUserQuestionAnswer, Question } from '../question.ts'
import type { ProviderRequest, UserQuestionProvider } from '../request.ts'
import { checkHarness, checkMembers } from './harness-rules.ts'
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
 *
 * Throws a `TypeError` that says what is wrong with a harness that is none.
 */
export function providerSuite(harness: ProviderHarness): ProviderCase[] {
  checkHarness('providerSuite', harness, {
    members: { open: 'opens a fresh provider with the given person before it' },
    abilities: Object.keys(ABILITIES),
  })
  return CASES.filter(({ needs = [] }) => !needs.some(ability => harness.lacks?.[ability] !== undefined)).map(
    ({ name, run }) => ({
      name,
      run: () => withProvider(harness, run),
    }),
  )
}

interface Bench {
  readonly can: (ability: Ability) => boolean
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
  /** Rejects when `promise` takes longer than the harness allows, and says what has been shown until then. */
  readonly soon: <T>(promise: Promise<T>, what: string) => Promise<T>
}

interface Case {
  readonly name: string
  readonly needs?: readonly Ability[]
  readonly run: (bench: Bench) => Promise<unknown>
}

const ABILITIES: Readonly<Record<Ability, true>> = {
  multiSelect: true,
  freeText: true,
  textBesideLabels: true,
  skip: true,
  dismiss: true,
  partial: true,
  decline: true,
  wait: true,
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
  ],
})
const CACHE: Question = frozen({
  id: 'cache',
  question: 'Which cache?',
  options: [{ label: 'Redis' }, { label: 'Memcached' }, { label: 'None at all' }],
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
    async run(bench) {
      const questions = [
        STORE,
        CACHE,
        ...(bench.can('multiSelect') ? [CHECKS] : []),
        ...(bench.can('freeText') ? [NAME] : []),
      ]
      const answers = questions.map(({ id }) => ({ id, selected: [] }))
      await assertAnswers(bench, questions, answers)
    },
  },
  {
    name: 'answers several questions under their own ids',
    run: bench =>
      assertAnswers(
        bench,
        [
          { ...STORE, id: '2' },
          { ...CACHE, id: '10' },
          { ...CACHE, id: '1', question: 'Which cache for sessions?' },
        ],
        [
          { id: '2', selected: ['Postgres'] },
          { id: '10', selected: ['Redis'] },
          { id: '1', selected: ['None at all'] },
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
      const labels = ['Redis', 'None at all', 'Memcached']
      const answers = await soon(
        Promise.all(
          labels.map(label => ask([CACHE], { act: 'answer', answers: [{ id: 'cache', selected: [label] }] })),
        ),
        'answering three requests made at once',
      )
      const given = answers.map(({ answers: [answer] }) => answer?.selected)
      const said = `the answers were mixed up: ${JSON.stringify(given)}. Keep what belongs to a request apart by request.id`
      assert.deepEqual(
        given,
        labels.map(label => [label]),
        said,
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
      assert.equal(
        first,
        'waiting',
        `the provider ${first} although the person did nothing. Wait for them, or for the signal`,
      )
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
      assert.equal(
        ended,
        'rejected',
        'the provider resolved a request that was aborted. Reject with signal.reason',
      )
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
      const advice = 'Call request.signal.throwIfAborted() before anything is shown'
      assert.equal(shown(), 0, `the person was shown a request that was aborted before. ${advice}`)
      assert.equal(ended, 'rejected', `a request that was aborted before was resolved. ${advice}`)
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
      assert.equal(
        counted.listeners(),
        0,
        'listeners are left on request.signal. Remove each when the request has ended, whichever way',
      )
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
        soon(ask([STORE, CACHE], { act: 'dismiss', after }), 'dismissing'),
        'ASK_CANCELLED',
      )
      const kept = 'answers' in error.details ? error.details.answers : undefined
      const said = `the error has the answers ${JSON.stringify(kept)} instead of ${JSON.stringify(after)}`
      assert.deepEqual(kept, after, `${said}. Give new UserQuestionError('ASK_CANCELLED', { answers })`)
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
      const said = `the questions have become ${JSON.stringify(questions)}`
      assert.deepEqual(questions, [STORE], `${said}. They belong to the asker: change a copy`)
    },
  },
]

async function withProvider(harness: ProviderHarness, run: Case['run']): Promise<void> {
  const acts = new Map<string, PersonAct>()
  const onShown = new Set<() => void>()
  let shown = 0
  const person: Person = ({ id }) => {
    const act = acts.get(id)
    assert.ok(act !== undefined, `the person was shown a request that was not asked: ${id}`)
    shown += 1
    for (const listener of onShown) listener()
    return act
  }
  const { withinMs = 5_000 } = harness
  const opened = await within(
    (async () => harness.open(person))(),
    withinMs,
    'open()',
    () => 'It is to resolve',
  )
  checkMembers('providerSuite: what open() gave', opened, { close: 'takes the provider down' })
  const { provider, close } = opened
  checkMembers('providerSuite: the provider that open() gave', provider, {
    ask: 'shows the questions of a request and resolves with the answers',
  })
  try {
    await run({
      can: ability => harness.lacks?.[ability] === undefined,
      shown: () => shown,
      soon: (promise, what) => within(promise, withinMs, what, () => hintOf(shown, acts.size)),
      untilShown: count =>
        new Promise(resolve => {
          const check = (): void => void (shown >= count && resolve())
          onShown.add(check)
          check()
        }),
      ask(questions, act, signal = new AbortController().signal) {
        const id = crypto.randomUUID()
        acts.set(id, act)
        return callProvider(provider, { id, questions, signal, engaged: () => {} })
      },
    })
  } finally {
    await within((async () => close())(), withinMs, 'close()', () => 'It is to end whatever is still shown')
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
  assert.ok(check.ok, `the answer breaks the rules: ${check.ok ? '' : faultsOf(check.issues)}`)
  const said = check.answer.answers.map(({ by: _, ...answer }) => answer)
  const got = `the provider answered ${JSON.stringify(said)}, the person ${JSON.stringify(answers)}`
  assert.deepEqual(said, answers, `${got}. Hand on what they chose and wrote as it is`)
}

function faultsOf(issues: readonly { readonly path: string; readonly message: string }[]): string {
  return issues.map(({ path, message }) => `${path} ${message}`).join('; ')
}

async function assertEnds(asking: Promise<unknown>, code: UserQuestionErrorCode): Promise<UserQuestionError> {
  const ended = await asking.then(
    value => assert.fail(`expected ${code}, resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  assert.ok(
    UserQuestionError.isInstance(ended),
    `expected a UserQuestionError of ${code}, got ${String(ended)}. Reject with new UserQuestionError('${code}', …)`,
  )
  assert.equal(ended.code, code, `expected ${code}, it ended with ${ended.code}: ${ended.message}`)
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

function hintOf(shown: number, asked: number): string {
  if (shown === 0) return 'Nothing was shown: call person(request) when the provider shows a request'
  return `${shown} of ${asked} requests were shown: do as person(request) says, settle each, then show the next`
}

async function within<T>(promise: Promise<T>, ms: number, what: string, hint: () => string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms. ${hint()}`)), ms)
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
