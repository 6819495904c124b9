import type { VNode } from 'preact'
import { visibleLine, type Question } from '@handraise/user-questions/types'
import { draftOf, faultOf, givenOf, valueOf, type RequestDraft } from '../draft.ts'
import { useWording } from '../language.ts'
import { AnswerText } from './answer-text.tsx'
import { faultText } from './fault-text.ts'
import { ForeignBlock } from './text.tsx'

export interface ReviewProps {
  readonly questions: readonly Question[]
  readonly draft: RequestDraft
  readonly name: string
  readonly disabled: boolean
  readonly go: (index: number) => void
}

/** All answers before they are sent; what was left open is said to be skipped. */
export function Review({ questions, draft, name, disabled, go }: ReviewProps): VNode {
  const t = useWording()
  return (
    <>
      <h2 id={`${name}-title`} tabIndex={-1}>
        {t.reviewTitle}
      </h2>
      <p class="quiet">{t.answered(givenOf(questions, draft).length, questions.length)}</p>
      <dl class="review">
        {questions.map((question, index) => {
          const value = valueOf(question, draftOf(draft, question))
          const fault = faultOf(question, draftOf(draft, question))
          const { header = question.question } = question
          return (
            <div key={question.id}>
              <dt>
                <ForeignBlock text={question.question} />
              </dt>
              <dd>
                {fault !== undefined && <span class="fault">{faultText(t, fault)}</span>}
                {fault === undefined && value === undefined && question.minSelections !== 0 && (
                  <span class="quiet">{t.willSkip}</span>
                )}
                {fault === undefined && (value !== undefined || question.minSelections === 0) && (
                  <AnswerText question={question} answer={value ?? { selected: [] }} />
                )}
                <button
                  type="button"
                  disabled={disabled}
                  aria-label={t.changeOf(visibleLine(header))}
                  onClick={() => go(index)}
                >
                  {t.change}
                </button>
              </dd>
            </div>
          )
        })}
      </dl>
    </>
  )
}
