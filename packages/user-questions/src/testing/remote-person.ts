import { readReply } from '../line-reply.ts'
import type { Answer, Question } from '../question.ts'
import type { ProviderRequest, UserQuestionProvider } from '../request.ts'
import type { Person, PersonAct } from './provider-harness.ts'

/** What the person does at one question of a request. */
export type QuestionAct =
  | { readonly act: 'answer'; readonly answer: Answer }
  | { readonly act: 'dismiss' }
  | { readonly act: 'decline' }
  | { readonly act: 'nothing' }

/** The person before a surface that knows a request by its id alone, such as one outside of the process. */
export interface RemotePerson {
  /** The provider, with a note made of each request that it is asked. */
  before(provider: UserQuestionProvider): UserQuestionProvider
  /** Call it when a question is shown: what the person does there. They are asked once for each request, and then do so. */
  actAt(requestId: string, questionId: string): QuestionAct
}

export function remotePerson(person: Person): RemotePerson {
  const requests = new Map<string, ProviderRequest>()
  const acts = new Map<string, PersonAct>()
  return {
    before: provider => ({
      ...provider,
      ask(request) {
        requests.set(request.id, request)
        return provider.ask(request)
      },
    }),
    actAt(requestId, questionId) {
      const request = requests.get(requestId)
      if (request === undefined) throw new TypeError(`no request ${JSON.stringify(requestId)} was asked`)
      const act = acts.get(requestId) ?? person(request)
      acts.set(requestId, act)
      return actAtQuestion(act, questionId)
    },
  }
}

function actAtQuestion(act: PersonAct, questionId: string): QuestionAct {
  if (act.act === 'nothing' || act.act === 'decline') return act
  const answers = act.act === 'answer' ? act.answers : (act.after ?? [])
  const answer = answers.find(({ id }) => id === questionId)
  return answer === undefined ? { act: 'dismiss' } : { act: 'answer', answer }
}

/** The line that `readReply` reads as that; nothing when the person does nothing. Labels beside a text cannot be typed. */
export function typedLine(question: Question, done: QuestionAct): string | undefined {
  if (done.act === 'nothing') return undefined
  if (done.act !== 'answer') return `/${done.act}`
  const { selected, custom } = done.answer
  // What would be read as a choice or a command.
  if (custom !== undefined)
    return readReply(question, custom).answer?.custom === custom ? custom : `/text ${custom}`
  const labels = question.options?.map(({ label }) => label) ?? []
  const numbers = selected.map(label => labels.indexOf(label) + 1)
  return numbers.length > 0 ? numbers.join(', ') : '/skip'
}
