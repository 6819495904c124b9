import {
  InboxError,
  QUESTIONS,
  questionsKind,
  toQuestionsPayload,
  type Inbox,
  type InboxRequest,
  type InboxSettlement,
  type OpenOptions,
} from '@handraise/inbox'
import type { Question } from '@handraise/user-questions/types'
import { promptResolvedSchema, type PromptResolved, type ThreadItem } from './items.ts'
import type { OpenPrompt } from './open-prompts.ts'
import { readEnding } from './origin.ts'
import { readStructuredAnswers } from './structured-answers.ts'

/** The request a prompt stands for, or why there can be none. */
export type Adopted = { readonly request: InboxRequest } | { readonly refused: string }

/**
 * The request of a prompt: the one in the inbox, else the same opened again, which an agent that asks again under its key
 * joins. One without a key cannot be asked for again: it ends as orphaned.
 */
export async function adoptPrompt(inbox: Inbox, prompt: OpenPrompt): Promise<Adopted> {
  const { origin } = prompt
  const known = origin === undefined ? undefined : await inbox.store.get(origin.id)
  if (known !== undefined) return { request: known }
  try {
    const { request } = await inbox.open(openingOf(prompt))
    if (origin !== undefined && origin.key === undefined) {
      await inbox.withdraw(request.id, 'orphaned')
      return { request: await inbox.get(request.id) }
    }
    return { request }
  } catch (error) {
    if (!InboxError.isInstance(error)) throw error
    if (error.code === 'KEY_CONFLICT') return { refused: 'withdrawn: its key was used for other questions' }
    if (error.code === 'BAD_REQUEST') return { refused: `withdrawn: ${error.message}` }
    throw error
  }
}

/**
 * Puts in the inbox how a prompt ended, for an agent that asks again under its key. Does nothing where that is not known,
 * where nobody could ask again, and where the inbox knows better.
 */
export async function adoptResolved(inbox: Inbox, prompt: OpenPrompt, item: ThreadItem): Promise<void> {
  const resolved = promptResolvedSchema.safeParse(item.metadata).data
  if (resolved === undefined || (prompt.origin !== undefined && prompt.origin.key === undefined)) return
  const settledAt = item.postedAt ?? inbox.clock.now()
  const settlement = readEnding(resolved.handraise) ?? settlementIn(prompt, resolved, item.id, settledAt)
  if (settlement === undefined) return
  const { origin } = prompt
  if (origin !== undefined && (await inbox.store.get(origin.id)) !== undefined) return
  // As it was: not every ending is one that could be commanded.
  await inbox.adopt(openingOf(prompt), settlement).catch((error: unknown) => {
    const isUseless =
      InboxError.isInstance(error) && (error.code === 'KEY_CONFLICT' || error.code === 'BAD_REQUEST')
    if (!isUseless) throw error
  })
}

function openingOf({ origin, promptId, questions }: OpenPrompt): OpenOptions {
  if (origin !== undefined) {
    const { version: _, kept: __, ...members } = origin
    return members
  }
  return { kind: QUESTIONS, payload: toQuestionsPayload(madeUpQuestions(questions)), key: promptId }
}

/** The questions of a prompt of another implementation, with ids that only we know. */
function madeUpQuestions(questions: OpenPrompt['questions']): Question[] {
  return questions.map(({ question, detail, multiSelect, options }, index) => ({
    id: `q${index + 1}`,
    question,
    ...(typeof detail === 'string' ? { detail } : {}),
    ...(multiSelect === true ? { multiSelect } : {}),
    ...((options ?? []).length === 0
      ? {}
      : {
          options: (options ?? []).map(({ label, description }) => ({
            label,
            ...(typeof description === 'string' ? { description } : {}),
          })),
        }),
  }))
}

// Of a resolution that only says what the seed has members for.
function settlementIn(
  { origin, questions: shown }: OpenPrompt,
  { prompt }: PromptResolved,
  itemId: string,
  settledAt: number,
): InboxSettlement | undefined {
  const made = { surface: 'thread', commandId: `thread ${itemId}`, settledAt }
  if (prompt.prompt_state === 'cancelled') return { ...made, outcome: 'cancelled', reason: prompt.reason }
  if (origin !== undefined && origin.kind !== QUESTIONS) return undefined
  const questions = origin === undefined ? madeUpQuestions(shown) : questionsKind.asQuestions(origin.payload)
  const structured = readStructuredAnswers(questions, { answers: prompt.answers })
  if (structured?.complete !== true) return undefined
  const answers = questions.flatMap(({ id }) => structured.valid.get(id) ?? [])
  return { ...made, outcome: 'answered', by: 'user', answer: questionsKind.fromAnswers(null, answers) }
}
