import type { VNode } from 'preact'
import type { PublicRequest } from '@handraise/provider-web/client'
import { useWording } from '../language.ts'
import { Settlement } from './settled.tsx'
import { Foreign } from './text.tsx'
import { Written } from './written.tsx'

export interface HistoryProps {
  /** What was written here for a request, and not sent. */
  readonly written: (request: PublicRequest) => string
  readonly requests?: readonly PublicRequest[] | undefined
  readonly more?: (() => void) | undefined
}

/** What was settled, the latest first. */
export function History({ requests, written, more }: HistoryProps): VNode {
  const t = useWording()
  return (
    <section class="history" aria-labelledby="history-title">
      <h2 id="history-title" tabIndex={-1}>
        {t.history}
      </h2>
      {requests === undefined ? <p class="quiet">{t.loading}</p> : null}
      {requests?.length === 0 ? <p class="quiet">{t.nothingSettled}</p> : null}
      <ol>
        {requests?.map(
          request =>
            request.settlement !== undefined && (
              <li key={request.id} class="card">
                {request.session !== undefined && (
                  <p class="eyebrow">
                    <Foreign text={request.session} />
                  </p>
                )}
                <Settlement request={request} settlement={request.settlement} />
                <Written text={written(request)} settlement={request.settlement} />
              </li>
            ),
        )}
      </ol>
      {more !== undefined && (
        <button type="button" onClick={more}>
          {t.more}
        </button>
      )}
    </section>
  )
}
