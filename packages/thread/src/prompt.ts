import { QUESTIONS, type InboxRequest, type RequestKind } from '@handraise/inbox'
import { APPROVAL, readPayload } from '@handraise/user-approvals'
import { visibleText, type Answer, type Question } from '@handraise/user-questions/types'
import { isOnceApprovable } from './approval-reply.ts'
import { APPROVE, DENY, type PromptKind, type PromptQuestion, type ThreadDraft } from './items.ts'
import { toOrigin } from './origin.ts'
import { promptText } from './prompt-text.ts'
import { missingOf, type Asked } from './read-reply.ts'

/** What a prompt of the request asks; undefined where it cannot be put as one. `as`: what an open prompt calls itself. */
export function askedOf(
  request: InboxRequest,
  kind: RequestKind | undefined,
  as?: PromptKind,
): Asked | undefined {
  const questions = kind?.asQuestions(request.payload) ?? []
  const [first] = questions
  if (first === undefined) return undefined
  if (request.kind === APPROVAL) {
    const payload = readPayload(request.payload)
    if (payload === undefined || !isOnceApprovable(payload.choices)) return undefined
    const { id, question, detail } = first
    const options = [{ label: APPROVE }, { label: DENY }]
    return { kind: 'approval', questions: [{ id, question, detail, options }] }
  }
  return { kind: as ?? kindOf(request.kind, questions), questions }
}

function kindOf(kind: string, questions: readonly Question[]): PromptKind {
  const [only] = questions
  const isText = kind !== QUESTIONS && questions.length === 1 && (only?.options ?? []).length === 0
  return isText ? 'text' : 'ask_user_question'
}

export function promptIdOf({ id }: Pick<InboxRequest, 'id'>): string {
  return `prm_${id}`
}

/** The item that asks. With `kept`, it asks the first question that has no answer yet. */
export function toPromptDraft(
  promptId: string,
  request: InboxRequest,
  { kind, questions }: Asked,
  kept?: readonly Answer[],
): ThreadDraft {
  const shown = kept === undefined ? questions : missingOf(questions, kept).slice(0, 1)
  return {
    content: [{ type: 'text', text: promptText(shown) }],
    metadata: {
      type: 'pending_prompt',
      prompt: {
        prompt_id: promptId,
        kind,
        prompt_state: 'pending',
        questions: shown.map(toPromptQuestion),
      },
      handraise: toOrigin(request, kept),
    },
  }
}

function toPromptQuestion({ question, detail, multiSelect, options = [] }: Question): PromptQuestion {
  return {
    question,
    ...(detail === undefined || detail.trim() === '' ? {} : { detail: visibleText(detail) }),
    multiSelect: multiSelect === true,
    ...(options.length === 0
      ? {}
      : {
          options: options.map(({ label, description }) => ({
            label,
            ...(description === undefined ? {} : { description }),
          })),
        }),
  }
}
