import { answersOf, QUESTIONS, type SettledRequest } from '@handraise/inbox'
import { allows, APPROVAL, checkApprovalAnswer, readPayload } from '@handraise/user-approvals'
import { visibleLine, type Question } from '@handraise/user-questions/types'
import { APPROVE, DENY, type PromptResolved, type ThreadAnswer, type ThreadDraft } from './items.ts'
import type { OpenPrompt } from './open-prompts.ts'
import { toEnding } from './origin.ts'
import { toThreadAnswer } from './structured-answers.ts'

/** How long what an item says may be; the answers in full are in its metadata. */
const MOST_CHARACTERS = 200

/** The item that says how the prompt ended: what the agent was given, or why it was given no answer. */
export function toAuditDraft(
  prompt: OpenPrompt,
  request: SettledRequest,
  questions: readonly Question[] | undefined,
): ThreadDraft {
  const { settlement } = request
  const { outcome, answer } = settlement
  const handraise = toEnding(request)
  // Defaults at the deadline were given to the agent as answers.
  if (outcome === 'answered' || (outcome === 'timedOut' && answersOf(answer).length > 0)) {
    const answers = answersIn(prompt, request, questions)
    const by = outcome === 'timedOut' ? ' by default' : ''
    return resolution(prompt, cut(`✓ Answered${by}: ${summaryOf(answers)}`), {
      prompt_state: 'answered',
      answers,
      handraise,
    })
  }
  return toCancelledDraft(prompt, reasonOf(request), handraise)
}

/** The item that says that the prompt has ended without an answer. */
export function toCancelledDraft(prompt: OpenPrompt, reason: string, handraise?: object): ThreadDraft {
  return resolution(prompt, cut(`✗ Cancelled: ${visibleLine(reason)}`), {
    prompt_state: 'cancelled',
    reason,
    handraise,
  })
}

// A chat takes messages of some length, and what cannot be posted keeps everything else from being asked.
function cut(text: string): string {
  const characters = Array.from(text)
  return characters.length <= MOST_CHARACTERS ? text : `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…`
}

type Ending = { readonly handraise: object | undefined } & (
  | { readonly prompt_state: 'answered'; readonly answers: ThreadAnswer[] }
  | { readonly prompt_state: 'cancelled'; readonly reason: string }
)

function resolution({ promptId, kind }: OpenPrompt, text: string, ending: Ending): ThreadDraft {
  const { handraise, ...state } = ending
  const metadata: PromptResolved = {
    type: 'pending_prompt_resolved',
    prompt: { prompt_id: promptId, kind, ...state },
    ...(handraise === undefined ? {} : { handraise }),
  }
  return { content: [{ type: 'text', text }], metadata }
}

function answersIn(
  prompt: OpenPrompt,
  request: SettledRequest,
  questions: readonly Question[] | undefined,
): ThreadAnswer[] {
  const { answer } = request.settlement
  if (prompt.kind === 'approval') {
    const label = isAllowed(request) ? APPROVE : DENY
    return prompt.questions.map(({ question }) => ({ question, answer: [label] }))
  }
  const answers = request.kind === QUESTIONS ? answersOf(answer) : (prompt.given ?? answersOf(answer))
  if (questions !== undefined && answers.length > 0) {
    return questions.map(question =>
      toThreadAnswer(
        question,
        answers.find(({ id }) => id === question.id),
      ),
    )
  }
  // In the words of a kind that nobody here can put as answers.
  const words = typeof answer === 'string' ? answer : JSON.stringify(answer ?? null)
  return prompt.questions.map(({ question }) => ({ question, answer: [words] }))
}

function isAllowed({ kind, payload, settlement: { answer } }: SettledRequest): boolean {
  if (kind !== APPROVAL) return answersOf(answer)[0]?.selected[0] === APPROVE
  const approval = readPayload(payload)
  const check = approval === undefined ? undefined : checkApprovalAnswer(approval, answer)
  return check?.ok === true && allows(check.choice)
}

function summaryOf(answers: readonly ThreadAnswer[]): string {
  return answers
    .map(({ answer }) => (answer.length === 0 ? '(skipped)' : answer.map(visibleLine).join(', ')))
    .join(' · ')
}

const REASONS = {
  answered: 'answered',
  declined: 'declined',
  cancelled: 'cancelled',
  clarified: 'clarified',
  interrupted: 'interrupted',
  timedOut: 'timed out',
  aborted: 'withdrawn',
} as const

function reasonOf({ settlement: { outcome, reason, text } }: SettledRequest): string {
  const said = text ?? reason
  return said === undefined || said === '' ? REASONS[outcome] : `${REASONS[outcome]}: ${said}`
}
