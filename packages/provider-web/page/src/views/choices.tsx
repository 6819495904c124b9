import type { ComponentChildren, VNode } from 'preact'
import { splitOwnAnswer, splitRecommended, visibleLine, type Question } from '@handraise/user-questions/types'
import { changeQuestion, choose, draftOf, write } from '../draft.ts'
import { useWording } from '../language.ts'
import type { BodyProps } from './question-steps.tsx'
import { Foreign, ForeignBlock, TextField } from './text.tsx'

export interface ChoicesProps extends BodyProps {
  readonly question: Question
  readonly eyebrow: string
  /** What is decided about. */
  readonly children: ComponentChildren
  /** The label of the choice that stands out. */
  readonly primary?: string | undefined
  /** The field for words, and the button that sends them alone. */
  readonly words: { readonly label: string; readonly hint: string; readonly send: string }
  /** Whether words may go along with a choice. */
  readonly along: boolean
}

/**
 * One decision with a button for each choice, in the order in which they are offered. Nothing is in focus at first, and a
 * number only moves to a choice, which a second, deliberate key takes.
 */
export function Choices(props: ChoicesProps): VNode {
  const { question, eyebrow, children, primary, words, along } = props
  const { draft, change, decide, disabled, name, leave, hint, setHint } = props
  const t = useWording()
  const { text } = draftOf(draft, question)

  const sendChoice = (label: string): void => {
    // Nothing that was written is dropped in silence.
    if (!along && text.trim() !== '') setHint(t.wordsAlone(words.send))
    else
      decide('answer', changeQuestion(choose(draft, question, label), question, { note: along ? text : '' }))
  }
  const sendWords = (): void => {
    if (text.trim() === '') setHint(t.writeFirst)
    else decide('answer', write(draft, question, text))
  }
  props.keys.current = (event): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target instanceof HTMLTextAreaElement) {
      if (event.key !== 'Enter' || event.shiftKey) return
      event.preventDefault()
      sendWords()
    } else if (/^[1-9]$/u.test(event.key)) {
      const buttons = event.currentTarget.querySelectorAll<HTMLElement>('[data-choice]')
      buttons[Number(event.key) - 1]?.focus()
    }
  }
  return (
    <div>
      <p class="eyebrow" title={visibleLine(eyebrow)}>
        <Foreign text={eyebrow} />
      </p>
      <h2 id={`${name}-title`} tabIndex={-1}>
        <ForeignBlock text={question.question} />
      </h2>
      {children}
      <TextField
        id={`${name}-own`}
        label={words.label}
        value={text}
        disabled={disabled}
        describedBy={`${name}-words`}
        onText={typed => {
          setHint('')
          change(write(draft, question, typed))
        }}
      />
      <p id={`${name}-words`} class="quiet">
        {words.hint}
      </p>
      <p class="hint" role="status">
        {hint}
      </p>
      <div class="actions" role="group" aria-labelledby={`${name}-title`}>
        {splitOwnAnswer(question).offered.map(({ label, description }, index) => {
          const { text: shown, recommended } = splitRecommended(label)
          return (
            <span class="choice" key={label}>
              <button
                type="button"
                data-choice
                class={label === primary ? 'primary' : undefined}
                disabled={disabled}
                aria-describedby={description === undefined ? undefined : `${name}-${index}-more`}
                onClick={() => sendChoice(label)}
              >
                <kbd aria-hidden="true">{index + 1}</kbd>
                <Foreign text={shown} />
                {recommended && <span class="badge">{t.recommended}</span>}
              </button>
              {description !== undefined && (
                <small id={`${name}-${index}-more`} tabIndex={description.length > 500 ? 0 : undefined}>
                  <Foreign text={description} lines />
                </small>
              )}
            </span>
          )
        })}
        <button type="button" disabled={disabled} onClick={sendWords}>
          {words.send}
        </button>
        {leave}
      </div>
    </div>
  )
}
