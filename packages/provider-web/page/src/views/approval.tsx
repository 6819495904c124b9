import type { VNode } from 'preact'
import { visibleText } from '@handraise/user-questions/types'
import { useWording } from '../language.ts'
import { Choices } from './choices.tsx'
import type { BodyProps } from './question-steps.tsx'

/**
 * Permission for one action: the subject to the letter, all of it, and the choices as they are offered. Words alone deny.
 */
export function Approval(props: BodyProps): VNode {
  const t = useWording()
  const [question] = props.questions
  if (question === undefined) return <></>
  return (
    <Choices
      {...props}
      question={question}
      eyebrow={t.approval}
      words={{ label: t.why, hint: t.whyHint, send: t.denyWithWords }}
      along={false}
    >
      {/* Never as Markdown: what is allowed is what is read. */}
      <pre class="plan" tabIndex={0} role="region" aria-label={t.subject}>
        {visibleText(question.detail ?? '')}
      </pre>
    </Choices>
  )
}
