import type { ComponentChildren, TargetedKeyboardEvent, VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { splitOwnAnswer, visibleLine, type Question } from '@handraise/user-questions/types'
import { changeQuestion, choose, draftOf, faultOf, valueOf, type How, type RequestDraft } from '../draft.ts'
import { useWording } from '../language.ts'
import { faultText } from './fault-text.ts'
import { QuestionForm, QuestionHead } from './question-form.tsx'
import { Review } from './review.tsx'
import { Foreign } from './text.tsx'

export type CardKeys = (event: TargetedKeyboardEvent<HTMLElement>) => void

export interface BodyProps {
  readonly questions: readonly Question[]
  readonly draft: RequestDraft
  readonly change: (draft: RequestDraft) => void
  readonly decide: (how: How, draft?: RequestDraft) => void
  readonly disabled: boolean
  readonly name: string
  /** Where the card finds what a key does here. */
  readonly keys: { current: CardKeys }
  /** What the frame adds to the row of buttons. */
  readonly leave: ComponentChildren
  /** Faults the server named, by question id, or by nothing. */
  readonly hint: string
  readonly setHint: (hint: string) => void
}

/** How long the digits of one number may be apart, in milliseconds. */
const DIGITS_MS = 1_000

/** Questions one after the other, then a review; a single question is sent as it is. */
export function QuestionSteps(props: BodyProps): VNode {
  const { questions, draft, change, decide, disabled, name, keys, leave, hint, setHint } = props
  const t = useWording()
  const body = useRef<HTMLDivElement>(null)
  const [fromReview, setFromReview] = useState(false)
  const [skipsNext, setSkipsNext] = useState(false)
  const [dropsNext, setDropsNext] = useState(false)
  const digits = useRef({ typed: '', at: 0 })
  /** The row a key moved to. A row that merely has the focus was not chosen by anybody. */
  const moved = useRef<HTMLInputElement>(undefined)
  const isSingle = questions.length === 1
  const step = Math.min(draft.step, isSingle ? 0 : questions.length)
  const question = questions[step]
  const isFirst = useRef(true)

  // Whoever goes on is brought to what is new, and hears it.
  useLayoutEffect(() => {
    if (isFirst.current) isFirst.current = false
    else focusStart(body.current)
  }, [step])
  useEffect(() => {
    setSkipsNext(false)
    setDropsNext(false)
  }, [draft])

  const go = (index: number, changed: RequestDraft = draft): void => {
    setHint('')
    change({ ...changed, step: index })
  }
  const next = (changed: RequestDraft = draft): void => {
    if (isSingle) decide('answer', changed)
    else go(fromReview ? questions.length : step + 1, changed)
    setFromReview(false)
  }
  // The focus stays where it is: what is typed next is meant for that.
  const refuse = setHint

  const goOn = (byKey = false): void => {
    if (disabled) return
    if (question === undefined) {
      const broken = questions.findIndex(each => faultOf(each, draftOf(draft, each)) !== undefined)
      const fault = questions[broken] && faultOf(questions[broken], draftOf(draft, questions[broken]))
      if (fault === undefined) decide('answer')
      else {
        setFromReview(true)
        go(broken)
        setHint(faultText(t, fault))
      }
      return
    }
    let current = draft
    const many = question.multiSelect === true
    const { offered } = splitOwnAnswer(question)
    // Whoever moved to an option and goes on means that one.
    if (byKey && !many && question.guarded !== true) {
      const row = rowsOf(body.current).findIndex(
        each => each === moved.current && each === document.activeElement,
      )
      const label = offered[row]?.label
      if (label !== undefined) current = choose(draft, question, label)
    }
    const own = draftOf(current, question)
    // Nothing that was written is left out in silence.
    if (!many && !own.own && own.ticked.length > 0 && own.text.trim() !== '' && !dropsNext) {
      setDropsNext(true)
      return refuse(t.textLeftOut)
    }
    const fault = faultOf(question, own)
    if (fault !== undefined) return refuse(faultText(t, fault))
    if (valueOf(question, own) === undefined) {
      if (!many) return refuse(offered.length === 0 ? t.writeFirst : t.chooseFirst)
      if (question.minSelections !== 0 && !skipsNext) {
        setSkipsNext(true)
        setHint(t.nothingTicked)
        return
      }
      current = changeQuestion(current, question, { skipped: true })
    }
    next(current)
  }

  const skip = (): void => {
    if (question === undefined) return
    const skipped = changeQuestion(draft, question, { skipped: true })
    const fault = faultOf(question, draftOf(skipped, question))
    if (fault === undefined) next(skipped)
    else refuse(faultText(t, fault))
  }

  keys.current = (event): void => {
    const target = event.target as HTMLElement
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const inText = target instanceof HTMLTextAreaElement
    if (event.key === 'Enter' && !event.shiftKey && (inText || !isOwnTarget(target))) {
      event.preventDefault()
      if (!event.repeat) goOn(true)
      return
    }
    if (inText || question === undefined || disabled) return
    const rows = rowsOf(body.current)
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp' || event.key === 'Home' || event.key === 'End') {
      if (rows.length === 0) return
      event.preventDefault()
      moved.current = moveFocus(rows, event.key)
    } else if (/^\d$/u.test(event.key)) {
      event.preventDefault()
      pressDigit(rows, event.key)
    }
  }

  // With ten rows and more a digit may be the first of two: it only moves there, so that nothing is ticked by half a number.
  const pressDigit = (rows: readonly HTMLInputElement[], digit: string): void => {
    const { typed, at } = digits.current
    const now = performance.now()
    const row = [now - at < DIGITS_MS ? typed + digit : digit, digit].find(number => rows[Number(number) - 1])
    digits.current = { typed: row ?? '', at: now }
    const input = rows[Number(row) - 1]
    if (input === undefined) return
    input.focus()
    moved.current = input
    const isOwn = input === rows.at(-1)
    if (isOwn) document.getElementById(`${name}-own`)?.focus()
    else if (rows.length < 10) input.click()
  }

  return (
    <div ref={body}>
      {!isSingle && (
        <ol class="steps" aria-label={t.steps}>
          {questions.map((each, index) => (
            <li key={each.id}>
              <button
                type="button"
                aria-current={index === step ? 'step' : undefined}
                aria-label={`${t.position(index + 1, questions.length)}${each.header === undefined ? '' : `, ${visibleLine(each.header)}`}`}
                class={valueOf(each, draftOf(draft, each)) === undefined ? undefined : 'done'}
                disabled={disabled}
                onClick={() => go(index)}
              >
                {each.header === undefined ? index + 1 : <Foreign text={each.header} />}
              </button>
            </li>
          ))}
          <li>
            <button
              type="button"
              aria-current={question === undefined ? 'step' : undefined}
              disabled={disabled}
              onClick={() => go(questions.length)}
            >
              {t.review}
            </button>
          </li>
        </ol>
      )}
      {question === undefined ? (
        <Review
          questions={questions}
          draft={draft}
          name={name}
          disabled={disabled}
          go={index => {
            setFromReview(true)
            go(index)
          }}
        />
      ) : (
        <div key={question.id}>
          <QuestionHead question={question} name={name} isOnly={isSingle} />
          <QuestionForm
            question={question}
            draft={draft}
            change={changed => {
              setHint('')
              change(changed)
            }}
            disabled={disabled}
            name={name}
          />
        </div>
      )}
      <p class="hint" role="status">
        {hint}
      </p>
      <div class="actions">
        <button type="button" class="primary" disabled={disabled} onClick={() => goOn()}>
          {isSingle ? t.send : question === undefined ? t.sendAnswers : t.next}
        </button>
        {question !== undefined && (
          <button type="button" disabled={disabled} onClick={skip}>
            {t.skip}
          </button>
        )}
        {step > 0 && (
          <button type="button" disabled={disabled} onClick={() => go(step - 1)}>
            {t.back}
          </button>
        )}
        {leave}
      </div>
    </div>
  )
}

/** Brings the person to where a question begins: its text field when there is nothing else, or its heading. */
export function focusStart(body: HTMLElement | null): void {
  const start = body?.querySelector<HTMLElement>('[data-start]') ?? body?.querySelector<HTMLElement>('h2')
  start?.focus()
}

function rowsOf(body: HTMLElement | null): HTMLInputElement[] {
  return [...(body?.querySelectorAll<HTMLInputElement>('input[data-row]') ?? [])]
}

// Arrows move and choose nothing: what is in focus is not what is chosen.
function moveFocus(rows: readonly HTMLInputElement[], key: string): HTMLInputElement | undefined {
  const at = rows.indexOf(document.activeElement as HTMLInputElement)
  const last = rows.length - 1
  const to = {
    Home: 0,
    End: last,
    ArrowDown: Math.min(last, at + 1),
    ArrowUp: at < 0 ? last : Math.max(0, at - 1),
  }[key]
  const row = rows[to ?? 0]
  row?.focus()
  return row
}

// Enter is the element's own there.
function isOwnTarget(target: HTMLElement): boolean {
  return target.closest('button, a, summary, select') !== null
}
