import type { VNode } from 'preact'
import {
  splitRecommended,
  type Answer,
  type AnswerValue,
  type Question,
} from '@handraise/user-questions/types'
import type { PublicRequest } from '@handraise/provider-web/client'
import { useWording } from '../language.ts'
import { Foreign } from './text.tsx'

/** What was chosen and written for one question. */
export function AnswerText({ question, answer }: { question: Question; answer: AnswerValue }): VNode {
  const t = useWording()
  const { selected, custom, note } = answer
  if (selected.length === 0 && custom === undefined)
    return <span class="quiet">{question.minSelections === 0 ? t.noneChosen : t.skipped}</span>
  return (
    <span class="answer">
      {selected.map(label => (
        <span key={label} class="chosen">
          <Foreign text={splitRecommended(label).text} />
        </span>
      ))}
      {custom !== undefined && (
        <q>
          <Foreign text={custom} lines />
        </q>
      )}
      {note !== undefined && (
        <q class="quiet">
          <Foreign text={note} lines />
        </q>
      )}
    </span>
  )
}

/** The answers in a settlement, as far as they are answers to its questions; of an approval, the choice in its words. */
export function answersIn({ kind, payload, settlement }: PublicRequest): readonly Answer[] {
  const answer = settlement?.answer as
    { answers?: unknown; choiceId?: unknown; feedback?: string } | undefined
  if (kind !== 'approval') return Array.isArray(answer?.answers) ? (answer.answers as Answer[]) : []
  const { choices = [] } = payload as { choices?: ReadonlyArray<{ choiceId: string; label: string }> }
  const { label } = choices.find(({ choiceId }) => choiceId === answer?.choiceId) ?? {}
  return label === undefined ? [] : [{ id: kind, selected: [label], note: answer?.feedback }]
}
