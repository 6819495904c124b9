import type { VNode } from 'preact'
import { splitOwnAnswer, splitRecommended, visibleLine, type Question } from '@handraise/user-questions/types'
import { changeQuestion, choose, chooseOwn, draftOf, write, type RequestDraft } from '../draft.ts'
import { useWording } from '../language.ts'
import { Markdown } from '../markdown.tsx'
import { Preview } from './preview.tsx'
import { Foreign, ForeignBlock, TextField } from './text.tsx'

export interface QuestionFormProps {
  readonly question: Question
  readonly draft: RequestDraft
  readonly change: (draft: RequestDraft) => void
  readonly disabled: boolean
  /** Ids of elements are made of it. */
  readonly name: string
}

/** One question: what is asked, its options in rows, and a row more for an answer of one's own. */
export function QuestionForm({ question, draft, change, disabled, name }: QuestionFormProps): VNode {
  const t = useWording()
  const { ticked, text, own, note } = draftOf(draft, question)
  const { offered, own: other } = splitOwnAnswer(question)
  const many = question.multiSelect === true
  const hint = limitsOf(question, t)
  const describedBy = hint === '' ? undefined : `${name}-limits`
  if (offered.length === 0) {
    return (
      <TextField
        id={`${name}-own`}
        start
        label={t.yourAnswer}
        value={text}
        disabled={disabled}
        onText={typed => change(write(draft, question, typed))}
      />
    )
  }
  const type = many ? 'checkbox' : 'radio'
  const ownLabel = other === undefined ? t.ownAnswer : t.ownBeside(visibleLine(other.label))
  return (
    <>
      {hint !== '' && (
        <p id={describedBy} class="quiet">
          {hint}
        </p>
      )}
      <ul
        class="options"
        role={many ? 'group' : 'radiogroup'}
        aria-labelledby={`${name}-title`}
        aria-describedby={describedBy}
      >
        {offered.map(({ label, description, preview }, index) => {
          const { text: shown, recommended } = splitRecommended(label)
          const id = `${name}-${index}`
          return (
            <li key={label} role="presentation">
              <label class="option">
                <input
                  type={type}
                  name={name}
                  id={id}
                  data-row={index}
                  checked={ticked.includes(label)}
                  disabled={disabled}
                  aria-labelledby={`${id}-label`}
                  aria-describedby={description === undefined ? undefined : `${id}-more`}
                  onChange={() => change(choose(draft, question, label))}
                />
                <kbd aria-hidden="true">{index + 1}</kbd>
                <span class="said">
                  <span id={`${id}-label`} dir="auto">
                    <span>{visibleLine(shown)}</span>
                    {recommended && <span class="badge">{t.recommended}</span>}
                    {question.intent?.approve === label && <span class="badge">{t.approves}</span>}
                  </span>
                  {description !== undefined && (
                    <span id={`${id}-more`} class="quiet">
                      <ForeignBlock text={description} />
                    </span>
                  )}
                </span>
              </label>
              {preview !== undefined && <Preview preview={preview} label={shown} />}
            </li>
          )
        })}
        <li role="presentation">
          <div class="option">
            <input
              type={type}
              name={name}
              data-row={offered.length}
              checked={own}
              disabled={disabled}
              aria-label={ownLabel}
              onChange={() => {
                change(chooseOwn(draft, question))
                if (!own) document.getElementById(`${name}-own`)?.focus()
              }}
            />
            <kbd aria-hidden="true">{offered.length + 1}</kbd>
            <span class="said">
              <TextField
                id={`${name}-own`}
                label={ownLabel}
                value={text}
                disabled={disabled}
                onText={typed => change(write(draft, question, typed))}
              />
              {other?.description !== undefined && (
                <span class="quiet">
                  <Foreign text={other.description} lines />
                </span>
              )}
            </span>
          </div>
        </li>
      </ul>
      {ticked.length > 0 && (
        <details class="note" open={note !== ''}>
          <summary>{t.note}</summary>
          <TextField
            label={t.noteFor}
            value={note}
            disabled={disabled}
            onText={typed => change(changeQuestion(draft, question, { note: typed }))}
          />
        </details>
      )}
    </>
  )
}

/** What is asked, with the text that supports it. */
export function QuestionHead({
  question,
  name,
  isOnly,
}: {
  question: Question
  name: string
  /** Without steps, which say the header as well. */
  isOnly: boolean
}): VNode {
  const { header, detail } = question
  return (
    <>
      {isOnly && header !== undefined && (
        <p class="eyebrow" title={visibleLine(header)}>
          <Foreign text={header} />
        </p>
      )}
      <h2 id={`${name}-title`} tabIndex={-1}>
        <ForeignBlock text={question.question} />
      </h2>
      {detail !== undefined && <Markdown text={detail} />}
    </>
  )
}

function limitsOf(
  { multiSelect, minSelections, maxSelections, guarded }: Question,
  t: ReturnType<typeof useWording>,
): string {
  if (guarded === true) return t.guarded
  if (multiSelect !== true) return ''
  if (minSelections !== undefined && minSelections > 0)
    return maxSelections === undefined ? t.atLeast(minSelections) : t.between(minSelections, maxSelections)
  return maxSelections === undefined ? t.chooseSeveral : t.atMost(maxSelections)
}
