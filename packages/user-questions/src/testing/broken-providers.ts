import { UserQuestionError } from '../error.ts'
import type { Answer, AskUserQuestionAnswer } from '../question.ts'
import type { ProviderRequest } from '../request.ts'
import type { Person, PersonAct, ProviderHarness } from './provider-harness.ts'

type Ask = (request: ProviderRequest, person: Person) => Promise<AskUserQuestionAnswer>

/** A provider with one rule broken, and the case of the suite that must find it out. */
export interface BrokenProvider {
  readonly does: string
  readonly failsCase: string
  readonly harness: ProviderHarness
}

/** A provider that keeps every rule, as small as it can be. */
export const faithfulProvider: ProviderHarness = harnessOf(faithful)

export const brokenProviders: readonly BrokenProvider[] = [
  broken(
    'strips (Recommended) from the label',
    'answers a single choice with the label exactly as offered',
    (request, person) =>
      mapAnswers(request, person, answer => ({
        ...answer,
        selected: answer.selected.map(label => label.replace(' (Recommended)', '')),
      })),
  ),
  broken(
    'joins chosen labels into one text',
    'answers a multi-select with every chosen label in a list',
    (request, person) =>
      mapAnswers(request, person, answer =>
        answer.selected.length > 1 && answer.custom === undefined
          ? { ...answer, selected: [answer.selected.join(', ')] }
          : answer,
      ),
  ),
  broken(
    'drops the text beside labels',
    'keeps free text beside the labels of a multi-select',
    (request, person) =>
      mapAnswers(request, person, ({ custom, ...answer }) =>
        custom === undefined || answer.selected.length > 0 ? answer : { ...answer, custom },
      ),
  ),
  broken(
    'chooses the first option beside free text',
    'lets free text replace the choice of a single-select',
    (request, person) =>
      mapAnswers(request, person, (answer, index) => {
        const question = request.questions[index]
        const first = question?.options?.[0]?.label
        if (answer.custom === undefined || first === undefined || question?.multiSelect === true)
          return answer
        return { ...answer, selected: [first] }
      }),
  ),
  broken('cuts free text at a comma', 'passes free text on word for word', (request, person) =>
    mapAnswers(request, person, answer => {
      const question = request.questions.find(({ id }) => id === answer.id)
      if (answer.custom === undefined || question?.options !== undefined) return answer
      return { ...answer, custom: answer.custom.split(',')[0] }
    }),
  ),
  broken(
    'leaves skipped questions out',
    'keeps a skipped question as an entry of its own',
    async (request, person) => {
      const { answers } = await faithful(request, person)
      return {
        answers: answers.filter(({ selected, custom }) => selected.length > 0 || custom !== undefined),
      }
    },
  ),
  broken(
    'matches answers by the order of ids',
    'answers several questions under their own ids',
    async (request, person) => {
      const { answers } = await faithful(request, person)
      const ids = request.questions.map(({ id }) => id).toSorted()
      return { answers: answers.map((answer, index) => ({ ...answer, id: ids[index] ?? answer.id })) }
    },
  ),
  broken(
    'keys answers by the question text',
    'keeps questions of the same text and header apart',
    async (request, person) => {
      const { answers } = await faithful(request, person)
      const byText = new Map(request.questions.map(({ question }, index) => [question, answers[index]]))
      return {
        answers: request.questions.map(({ id, question }) => ({ selected: [], ...byText.get(question), id })),
      }
    },
  ),
  broken(
    'keeps answers in a plain object',
    'takes an id such as __proto__ like any other',
    async (request, person) => {
      const { answers } = await faithful(request, person)
      const byId: Record<string, Answer> = {}
      for (const answer of answers) byId[answer.id] = answer
      return { answers: Object.values(byId) }
    },
  ),
  {
    does: 'keeps one slot for the request being asked',
    failsCase: 'gives requests made at once each its own answer',
    harness: harnessWith(() => {
      let latest: PersonAct | undefined
      return async (request, person) => {
        request.signal.throwIfAborted()
        latest = person(request)
        await Promise.resolve()
        return actOn(latest, request)
      }
    }),
  },
  broken(
    'answers for a person who does nothing',
    'waits as long as the person does nothing',
    async (request, person) => {
      const act = person(request)
      if (act.act !== 'nothing') return actOn(act, request)
      await new Promise(resolve => setTimeout(resolve, 20))
      request.signal.throwIfAborted()
      const first = request.questions.map(({ id, options }) => ({
        id,
        selected: options?.slice(0, 1).map(o => o.label) ?? [],
      }))
      return { answers: first }
    },
  ),
  broken('ignores the signal', 'ends when the request is aborted', (request, person) => {
    const act = person(request)
    return act.act === 'nothing' ? new Promise(() => {}) : actOn(act, request)
  }),
  {
    does: 'shows a request that was aborted',
    failsCase: 'does not show a request that was aborted before',
    harness: harnessOf((request, person) => actOn(person(request), request)),
  },
  {
    does: 'keeps its queue blocked after an abort',
    failsCase: 'shows the next request after an abort',
    harness: harnessWith(() => {
      let blocked = false
      return async (request, person) => {
        request.signal.throwIfAborted()
        if (blocked) return new Promise(() => {})
        return faithful(request, person).catch((error: unknown) => {
          blocked = request.signal.aborted
          throw error
        })
      }
    }),
  },
  broken('keeps listening to the signal', 'leaves no listener on the signal', (request, person) => {
    request.signal.addEventListener('abort', () => {})
    return faithful(request, person)
  }),
  broken(
    'reports a dismissal as an empty answer',
    'ends a dismissal with ASK_CANCELLED',
    async (request, person) => {
      const act = person(request)
      return act.act === 'dismiss' && act.after === undefined ? { answers: [] } : actOn(act, request)
    },
  ),
  broken(
    'drops what was answered before a dismissal',
    'keeps what was answered before a dismissal',
    async (request, person) => {
      const act = person(request)
      return actOn(act.act === 'dismiss' ? { act: 'dismiss' } : act, request)
    },
  ),
  broken(
    'reports a refusal to answer as a dismissal',
    'ends a refusal to answer with ASK_DECLINED',
    async (request, person) => {
      const act = person(request)
      return actOn(act.act === 'decline' ? { act: 'dismiss' } : act, request)
    },
  ),
  broken('writes into the questions', 'leaves the request as it was handed over', (request, person) => {
    for (const question of request.questions) {
      if (!Object.isFrozen(question)) Object.assign(question, { question: question.question.toUpperCase() })
    }
    return faithful(request, person)
  }),
]

function broken(does: string, failsCase: string, ask: Ask): BrokenProvider {
  return {
    does,
    failsCase,
    harness: harnessOf(async (request, person) => {
      request.signal.throwIfAborted()
      return ask(request, person)
    }),
  }
}

function harnessOf(ask: Ask): ProviderHarness {
  return harnessWith(() => ask)
}

// The broken ones never answer, so they are not waited for long.
function harnessWith(make: () => Ask): ProviderHarness {
  return {
    withinMs: 400,
    open(person) {
      const ask = make()
      return { provider: { name: 'example', ask: request => ask(request, person) }, close() {} }
    },
  }
}

async function faithful(request: ProviderRequest, person: Person): Promise<AskUserQuestionAnswer> {
  request.signal.throwIfAborted()
  return actOn(person(request), request)
}

async function mapAnswers(
  request: ProviderRequest,
  person: Person,
  map: (answer: Answer, index: number) => Answer,
): Promise<AskUserQuestionAnswer> {
  const { answers } = await faithful(request, person)
  return { answers: answers.map(map) }
}

function actOn(act: PersonAct, { signal }: ProviderRequest): Promise<AskUserQuestionAnswer> {
  switch (act.act) {
    case 'answer':
      return Promise.resolve({ answers: act.answers })
    case 'dismiss':
      return Promise.reject(new UserQuestionError('ASK_CANCELLED', { answers: act.after }))
    case 'decline':
      return Promise.reject(new UserQuestionError('ASK_DECLINED'))
    case 'nothing':
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
  }
}
