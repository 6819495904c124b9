import type { VNode } from 'preact'
import type { PublicRequest, PublicSettlement } from '@handraise/provider-web/client'
import { momentOf, useLanguage } from '../language.ts'
import type { Wording } from '../languages/en.ts'
import { answersIn, AnswerText } from './answer-text.tsx'
import { Foreign, ForeignBlock } from './text.tsx'

/** How it ended and by whom, in one line. */
export function endingOf(t: Wording, settlement: PublicSettlement, isMine = false): string {
  const { outcome, surface, by } = settlement
  const ended = t.outcomes[outcome]
  if (isMine) return t.byYou(ended)
  const said = surface === undefined ? ended : t.on(ended, surface)
  if (by === 'policy') return `${said}, ${t.byPolicy}`
  return by === 'default' ? `${said}, ${t.byDefault}` : said
}

export interface SettlementProps {
  readonly request: PublicRequest
  readonly settlement: PublicSettlement
  /** It was decided on this page. */
  readonly isMine?: boolean | undefined
  /** The question stands above it already, when there is one. */
  readonly inCard?: boolean | undefined
}

/** A settled request: how it ended, by whom, and with which answers. */
export function Settlement({ request, settlement, isMine, inCard }: SettlementProps): VNode {
  const { wording: t, code } = useLanguage()
  const { reason, text, settledAt, outcome } = settlement
  const { questions = [] } = request
  const answers = answersIn({ ...request, settlement })
  return (
    <>
      <p class={`ending ${outcome}`}>
        <strong>{endingOf(t, settlement, isMine)}</strong>{' '}
        <time dateTime={new Date(settledAt).toISOString()}>{momentOf(settledAt, code)}</time>
      </p>
      {reason !== undefined && (
        <p class="quiet">
          <Foreign text={t.reason(reason)} />
        </p>
      )}
      <dl>
        {questions.map(question => {
          const answer = answers.find(({ id }) => id === question.id)
          return (
            <div key={question.id}>
              {inCard === true && questions.length === 1 ? null : (
                <dt>
                  <ForeignBlock text={question.question} />
                </dt>
              )}
              {answer !== undefined && (
                <dd>
                  <AnswerText question={question} answer={answer} />
                </dd>
              )}
            </div>
          )
        })}
      </dl>
      {text !== undefined && (
        <blockquote>
          <ForeignBlock text={text} />
        </blockquote>
      )}
    </>
  )
}
