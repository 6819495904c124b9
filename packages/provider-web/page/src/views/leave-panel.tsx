import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { How } from '../draft.ts'
import { useWording } from '../language.ts'
import { TextField } from './text.tsx'

export interface LeavePanelProps {
  readonly answered: number
  readonly reply: string
  readonly changeReply: (reply: string) => void
  readonly decide: (how: How) => void
  readonly close: () => void
}

/** The ways to end a request without answering it, each with what it means. */
export function LeavePanel({ answered, reply, changeReply, decide, close }: LeavePanelProps): VNode {
  const t = useWording()
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  const way = (how: How, label: string, more: string): VNode => (
    <div>
      <dt>
        <button type="button" onClick={() => decide(how)}>
          {label}
        </button>
      </dt>
      <dd>{more}</dd>
    </div>
  )
  return (
    <div class="leave" role="group" aria-labelledby="leave-title">
      <h3 id="leave-title" ref={title} tabIndex={-1}>
        {t.leaveTitle}
      </h3>
      <TextField label={t.yourReply} value={reply} onText={changeReply} />
      <dl class="ways">
        <div>
          <dt>
            <button type="button" disabled={reply.trim() === ''} onClick={() => decide('clarify')}>
              {t.writeBack}
            </button>
          </dt>
          <dd>{t.writeBackMore}</dd>
        </div>
        {way('decline', t.decline, t.declineMore)}
        {way('cancel', t.dismiss, t.dismissMore(answered))}
        {way('interrupt', t.stop, t.stopMore)}
      </dl>
      <button type="button" onClick={close}>
        {t.keep}
      </button>
    </div>
  )
}
