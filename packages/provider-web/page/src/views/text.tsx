import type { TargetedKeyboardEvent, VNode } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { visibleLine, visibleText } from '@handraise/user-questions/types'

/** A text that is not ours, within a line: on its own as regards direction, and with nothing in it that acts. */
export function Foreign({ text, lines = false }: { text: string; lines?: boolean }): VNode {
  return <bdi class={lines ? 'lines' : undefined}>{lines ? visibleText(text) : visibleLine(text)}</bdi>
}

/** The same as a block of its own, which begins on the side where its direction does. */
export function ForeignBlock({ text }: { text: string }): VNode {
  return (
    <span class="lines block" dir="auto">
      {visibleText(text)}
    </span>
  )
}

export interface TextFieldProps {
  readonly value: string
  readonly label: string
  readonly onText: (text: string) => void
  readonly id?: string | undefined
  readonly disabled?: boolean | undefined
  readonly describedBy?: string | undefined
  /** Whoever comes to the question is brought here. */
  readonly start?: boolean | undefined
}

/** A field that grows with its text, up to some lines. */
export function TextField(props: TextFieldProps): VNode {
  const { value, label, onText, id, disabled, describedBy, start } = props
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    const { current } = field
    if (current === null) return
    current.style.height = 'auto'
    current.style.height = `${current.scrollHeight + 2}px`
  }, [value])
  return (
    <label class="field">
      <span>{label}</span>
      <textarea
        ref={field}
        id={id}
        rows={1}
        dir="auto"
        value={value}
        disabled={disabled}
        aria-describedby={describedBy}
        onInput={event => onText(event.currentTarget.value)}
        data-start={start}
      />
    </label>
  )
}

/** Empties a field in a way that the browser can undo. */
export function clearField(field: HTMLTextAreaElement): void {
  field.select()
  // Deprecated without a successor: a value that is set from outside cannot be undone.
  if (!document.execCommand('delete')) {
    field.value = ''
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
}

/** Whether a key is part of composing a character, and no command. Safari says so by the code alone. */
export function isComposing(event: TargetedKeyboardEvent<HTMLElement>): boolean {
  return event.isComposing || event.keyCode === 229
}
