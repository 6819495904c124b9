import type { TargetedKeyboardEvent, VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { splitOwnAnswer, visibleLine, type Question } from '@handraise/user-questions/types'
import type { PublicRequest, PublicSettlement } from '@handraise/provider-web/client'
import { givenOf, textOf, type How, type RequestDraft } from '../draft.ts'
import { momentOf, useLanguage } from '../language.ts'
import { Approval } from './approval.tsx'
import { Deadline } from './deadline.tsx'
import { LeavePanel } from './leave-panel.tsx'
import { PlanReview } from './plan-review.tsx'
import { focusStart, QuestionSteps, type CardKeys } from './question-steps.tsx'
import { Settlement } from './settled.tsx'
import { Written } from './written.tsx'
import { clearField, Foreign, ForeignBlock, isComposing } from './text.tsx'

export type Issues = ReadonlyArray<{ readonly path: string; readonly message: string }>

export interface RequestCardProps {
  readonly request: PublicRequest
  readonly settlement?: PublicSettlement | undefined
  readonly draft: RequestDraft
  readonly change: (draft: RequestDraft) => void
  readonly decide: (how: How, draft: RequestDraft) => void
  /** The decision on its way could not be sent yet. */
  readonly unsent: boolean
  readonly sendAgain: () => void
  readonly callOff: () => void
  /** Why the server did not take the last answer. */
  readonly issues: Issues
  readonly gone: boolean
  /** It was settled by what was sent from here. */
  readonly isMine: boolean
  readonly aheadMs: number
  /** How long after it is shown keys and clicks begin to count, in milliseconds. */
  readonly armingMs: number
  /** Grows each time it is brought into view: the person is brought to it. */
  readonly visit: number
  /** Whether this is all the page is about. */
  readonly alone: boolean
  readonly next?: { readonly label: string; readonly go: () => void } | undefined
}

/** How long a second Escape is one. */
const ESCAPE_AGAIN_MS = 2_000

/** One request: its questions while it is pending, and how it ended once it is not. */
export function RequestCard(props: RequestCardProps): VNode {
  const { request, settlement, draft, change, unsent, issues, gone, aheadMs, armingMs, visit } = props
  const { wording: t, code } = useLanguage()
  const card = useRef<HTMLElement>(null)
  const [leaving, setLeaving] = useState(false)
  const [hint, setHint] = useState('')
  const escapedAt = useRef(-Infinity)
  const shownAt = useRef(performance.now())
  const stepped = useRef(0)
  const hasSent = useRef(false)
  const sendingStatus = useRef<HTMLDivElement>(null)
  const keys = useRef<CardKeys>(() => {})
  const { questions } = request
  const name = `q-${request.id}`
  const isOpen = settlement === undefined && !gone
  const sending = draft.sending !== undefined
  const step = draft.step

  useLayoutEffect(() => focusStart(card.current), [visit])
  // What was typed or clicked for what was there before is no answer to what took its place.
  useLayoutEffect(() => {
    shownAt.current = performance.now()
    stepped.current += 1
  }, [step])
  useLayoutEffect(() => {
    if (isOpen) return
    setLeaving(false)
    // What had the focus is no longer there.
    if (document.activeElement === document.body) card.current?.querySelector('h2')?.focus()
  }, [isOpen])
  useLayoutEffect(() => {
    if (sending) sendingStatus.current?.focus()
    else if (stepped.current > 1 || hasSent.current) focusStart(card.current)
    hasSent.current ||= sending
  }, [sending])
  // A refusal is of the question that breaks the rule.
  useEffect(() => {
    const [, index] =
      issues.map(({ path }) => /answers\[(\d+)\]/u.exec(path)).find(found => found !== null) ?? []
    if (index !== undefined && (questions?.length ?? 0) > 1) change({ ...draft, step: Number(index) })
  }, [issues])

  const given = questions === undefined ? [] : givenOf(questions, draft)
  const early = (event: Event): void => {
    // Of what has ended nothing can be answered by accident.
    if (!isOpen) return
    const isKey = event instanceof KeyboardEvent
    if (isKey && (event.key === 'Tab' || event.ctrlKey || event.metaKey || event.altKey)) return
    // Steps are the person's own doing: a moment is enough for them.
    const armed = stepped.current > 1 ? Math.min(armingMs, 150) : armingMs
    if (performance.now() - shownAt.current >= armed) return
    event.preventDefault()
    event.stopPropagation()
  }

  const decide = (how: How, changed: RequestDraft = draft): void => {
    setLeaving(false)
    setHint('')
    props.decide(how, changed)
  }

  const escape = (target: HTMLElement): void => {
    if (leaving) {
      setLeaving(false)
      focusStart(card.current)
      return
    }
    if (target instanceof HTMLTextAreaElement) {
      if (target.value !== '') return clearField(target)
      const heading = card.current?.querySelector<HTMLElement>('h2')
      const question = questions?.[Math.min(step, questions.length - 1)]
      if (question !== undefined && splitOwnAnswer(question).offered.length > 0) return heading?.focus()
    }
    const now = performance.now()
    if (now - escapedAt.current <= ESCAPE_AGAIN_MS) return decide(given.length === 0 ? 'decline' : 'cancel')
    escapedAt.current = now
    const said =
      given.length === 0
        ? t.escapeDeclines
        : t.escapeDismisses(given.length, (questions?.length ?? 0) - given.length)
    setHint(said)
    setTimeout(() => setHint(current => (current === said ? '' : current)), ESCAPE_AGAIN_MS)
  }

  const press = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    if (isComposing(event)) return
    if (event.key !== 'Escape') {
      if (event.key !== 'Shift' && escapedAt.current > 0) {
        escapedAt.current = -Infinity
        setHint('')
      }
      // The panel has keys of its own.
      if ((event.target as HTMLElement).closest('.leave') === null && isOpen) keys.current(event)
    } else if (isOpen && !sending) {
      event.preventDefault()
      // A key that is held down confirms nothing.
      if (!event.repeat) escape(event.target as HTMLElement)
    }
  }

  const body = {
    questions: questions ?? [],
    draft,
    change,
    decide,
    disabled: sending,
    name,
    keys,
    hint,
    setHint,
    leave: (
      <button
        type="button"
        class="leaving"
        disabled={sending}
        aria-expanded={leaving}
        onClick={() => {
          setHint('')
          setLeaving(!leaving)
        }}
      >
        {t.leave}
      </button>
    ),
  }
  return (
    <section
      ref={card}
      class="card"
      aria-labelledby={`${name}-title`}
      tabIndex={-1}
      onKeyDown={press}
      onKeyDownCapture={early}
      onClickCapture={early}
    >
      <header>
        <p class="quiet">
          {[request.session, request.agent === undefined ? undefined : t.agent(visibleLine(request.agent))]
            .filter(text => text !== undefined)
            .map(text => (
              <span key={text}>
                <Foreign text={text} />
                {' · '}
              </span>
            ))}
          <time dateTime={new Date(request.openedAt).toISOString()}>{momentOf(request.openedAt, code)}</time>
        </p>
        {isOpen && request.deadline !== undefined && <Deadline at={request.deadline} aheadMs={aheadMs} />}
      </header>
      {!isOpen || questions === undefined ? (
        <Ended {...props} name={name} written={textOf(questions ?? [], draft)} />
      ) : request.kind === 'approval' ? (
        <Approval {...body} />
      ) : isPlanReview(questions) ? (
        <PlanReview {...body} />
      ) : (
        <QuestionSteps {...body} />
      )}
      {isOpen && issues.length > 0 && (
        <div role="alert" class="fault">
          {t.refused}
          <ul>
            {issues.map(({ path, message }) => (
              <li key={path + message}>
                <Foreign text={`${subjectOf(path, questions)} ${message}`.trim()} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {isOpen && sending && (
        <div class="sending" role="status" ref={sendingStatus} tabIndex={-1}>
          {unsent ? t.notSent : t.sending}
          {unsent && (
            <p class="actions">
              <button type="button" onClick={props.sendAgain}>
                {t.sendAgain}
              </button>
              <button type="button" onClick={props.callOff}>
                {t.keepEditing}
              </button>
            </p>
          )}
        </div>
      )}
      {isOpen && leaving && !sending && (
        <LeavePanel
          answered={given.length}
          reply={draft.reply}
          changeReply={reply => change({ ...draft, reply })}
          decide={decide}
          close={() => {
            setLeaving(false)
            focusStart(card.current)
          }}
        />
      )}
    </section>
  )
}

interface EndedProps extends RequestCardProps {
  readonly name: string
  /** What the person had written for it. */
  readonly written: string
}

/** What cannot be answered here: it has ended, it is gone, or nobody here knows its kind. */
function Ended({ request, settlement, gone, isMine, alone, next, name, written }: EndedProps): VNode {
  const { wording: t } = useLanguage()
  const [question] = request.questions ?? []
  return (
    <>
      <h2 id={`${name}-title`} tabIndex={-1}>
        {question === undefined ? t.cannotShow : <ForeignBlock text={question.question} />}
      </h2>
      {settlement !== undefined && (
        <Settlement request={request} settlement={settlement} isMine={isMine} inCard />
      )}
      {gone && <p>{t.gone}</p>}
      {settlement === undefined && !gone && <p>{t.cannotShowMore(visibleLine(request.kind))}</p>}
      {!isMine && <Written text={written} settlement={settlement} />}
      {alone && settlement !== undefined && <p class="quiet">{t.closePage}</p>}
      {next !== undefined && (
        <p class="actions">
          <button type="button" class="primary" onClick={next.go}>
            {next.label}
          </button>
        </p>
      )}
    </>
  )
}

/** What a path of an answer is about, in the words of the question. */
function subjectOf(path: string, questions: readonly Question[] = []): string {
  const [, index] = /^answers\[(\d+)\]/u.exec(path) ?? []
  const question = questions[Number(index)]
  return question === undefined ? path : `${question.header ?? question.question}:`
}

/** One single-select question that is said to be a plan review, with few enough choices for buttons. */
function isPlanReview(questions: readonly Question[]): boolean {
  const [question] = questions
  return (
    questions.length === 1 &&
    question?.intent?.kind === 'plan-review' &&
    question.multiSelect !== true &&
    (question.options?.length ?? 0) <= 6
  )
}
