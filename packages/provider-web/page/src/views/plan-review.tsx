import type { VNode } from 'preact'
import { useWording } from '../language.ts'
import { Markdown } from '../markdown.tsx'
import { Choices } from './choices.tsx'
import type { BodyProps } from './question-steps.tsx'

/** A plan to approve. Feedback goes along with the choice, or alone in its place. */
export function PlanReview(props: BodyProps): VNode {
  const t = useWording()
  const [question] = props.questions
  if (question === undefined) return <></>
  return (
    <Choices
      {...props}
      question={question}
      eyebrow={t.planReview}
      primary={question.intent?.approve}
      words={{ label: t.feedback, hint: t.feedbackHint, send: t.sendFeedback }}
      along
    >
      {question.detail !== undefined && (
        <div class="plan" tabIndex={0} role="region" aria-label={t.planOf}>
          <Markdown text={question.detail} />
        </div>
      )}
    </Choices>
  )
}
