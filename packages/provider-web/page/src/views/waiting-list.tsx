import type { VNode } from 'preact'
import type { PublicRequest } from '@handraise/provider-web/client'
import { bySession } from '../inbox-state.ts'
import { momentOf, useLanguage } from '../language.ts'
import { Foreign } from './text.tsx'

export interface WaitingListProps {
  readonly requests: readonly PublicRequest[]
  readonly shown?: string | undefined
  readonly show: (id: string) => void
  readonly more?: (() => void) | undefined
}

/** All that waits, by session, the oldest first. */
export function WaitingList({ requests, shown, show, more }: WaitingListProps): VNode {
  const { wording: t, code } = useLanguage()
  const sessions = bySession(requests)
  const isPlain = sessions.length === 1 && sessions[0]?.[0] === ''
  return (
    <nav class="waiting" aria-label={t.waiting}>
      {sessions.map(([session, group]) => (
        <section key={session}>
          {!isPlain && <h2>{session === '' ? t.noSession : <Foreign text={session} />}</h2>}
          <ul>
            {group.map(({ id, kind, questions = [], openedAt }) => (
              <li key={id}>
                <button type="button" aria-current={id === shown} onClick={() => show(id)}>
                  <Foreign text={questions[0]?.question ?? kind} />
                  <small>
                    {questions.length > 1 ? `${t.questions(questions.length)} · ` : ''}
                    {momentOf(openedAt, code)}
                  </small>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {more !== undefined && (
        <button type="button" onClick={more}>
          {t.more}
        </button>
      )}
    </nav>
  )
}
