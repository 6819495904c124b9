import {
  isBlank,
  isSkip,
  splitRecommended,
  visibleLine,
  visibleText,
  type Question,
} from '@handraise/user-questions/types'
import { lineWidth, type Line, type Role, type Span } from './line.ts'
import {
  confirmedAnswers,
  countGiven,
  draftAt,
  questionAt,
  type Draft,
  type PromptQuestion,
  type PromptState,
} from './state.ts'
import type { Editor } from './text-editor.ts'
import type { Range } from './viewport.ts'
import { WORDING } from './wording.ts'
import { graphemes, widthOf, wrap, wrapExactly } from './wrap.ts'

/** All there is to show of a view, however long. */
export interface Document {
  readonly lines: readonly Line[]
  /** The lines of each row that can be in focus. */
  readonly rows: readonly Range[]
  /** The lines that must stay in sight. */
  readonly focus?: Range | undefined
  /** Where the person is writing. */
  readonly cursor?: { readonly line: number; readonly column: number } | undefined
}

export function toDocument(state: PromptState, columns: number): Document {
  const { view } = state
  switch (view.name) {
    case 'question':
      return questionDocument(questionAt(state, view.index), draftAt(state, view.index), columns)
    case 'review':
      return reviewDocument(state, view.focus, columns)
    case 'reply':
      return replyDocument(state, columns)
  }
}

/** The first line of a question, which stays in sight when the rest is scrolled away. */
export function questionTitle(question: Question): string {
  return visibleText(question.question).trim().split('\n')[0] ?? ''
}

/** An answer in one line of what the person sees. */
export function describeOutcome(question: Question, outcome: Draft['outcome']): string {
  if (outcome === undefined) return ''
  if (isSkip(outcome)) return question.minSelections === 0 ? WORDING.noneChosen : WORDING.skipped
  const labels = outcome.selected.map(label => visibleLine(splitRecommended(label).text))
  return [...labels, ...(isBlank(outcome.custom) ? [] : [visibleLine(outcome.custom ?? '')])].join(', ')
}

/** What comes between the name of a question and its answer. */
export function parting(name: string): string {
  return /[?!:？！：]$/u.test(name) ? ' ' : ': '
}

/** What a question is called where there is room for one line. */
export function shortName({ header, question }: Question): string {
  return visibleLine(isBlank(header) ? question : (header ?? '')).trim()
}

function questionDocument(asked: PromptQuestion, draft: Draft, columns: number): Document {
  const { question, options } = asked
  const lines: Line[] = [...introduction(question, columns)]
  const rows: Range[] = []
  const add = (row: readonly Line[]): void => {
    rows.push({ from: lines.length, to: lines.length + row.length })
    lines.push(...row)
  }
  const multi = question.multiSelect === true
  const digits = String(options.length + 1).length
  options.forEach(({ label, description }, index) => {
    const { text, recommended } = splitRecommended(label)
    const approves = question.intent?.approve === label
    add(
      rowLines(
        {
          prefix: prefixOf(index, draft, digits, multi, draft.ticked.includes(label), columns),
          label: visibleLine(text),
          focused: draft.focus === index,
          badges: [...(recommended ? [WORDING.recommended] : []), ...(approves ? [WORDING.approves] : [])],
          description: visibleLine(description ?? ''),
          exact: question.guarded === true,
        },
        columns,
      ),
    )
  })
  const own = ownRow(asked, draft, digits, multi, columns)
  const from = lines.length
  add(own.lines)
  const cursor = own.cursor === undefined ? undefined : { ...own.cursor, line: from + own.cursor.line }
  const focus = cursor === undefined ? rows[draft.focus] : { from: cursor.line, to: cursor.line + 1 }
  return { lines, rows, focus, cursor }
}

const introductions = new WeakMap<Question, { readonly columns: number; readonly lines: readonly Line[] }>()

// What stands above the rows. Kept from frame to frame: it may be a long plan, and no key changes it.
function introduction(question: Question, columns: number): readonly Line[] {
  const known = introductions.get(question)
  if (known?.columns === columns) return known.lines
  const lines = wrapped(visibleText(question.question), 'question', columns)
  if (!isBlank(question.detail)) lines.push([], ...detailLines(question, columns))
  lines.push([])
  introductions.set(question, { columns, lines })
  return lines
}

// Of what is decided with care every blank counts, at the end of a line too.
function detailLines({ detail = '', guarded }: Question, columns: number): Line[] {
  const text = visibleText(detail).trimEnd()
  if (guarded !== true) return wrapped(text, 'detail', columns)
  return wrapWhole(text, columns).map(line => [{ text: line, role: 'detail' }])
}

function wrapWhole(text: string, columns: number): string[] {
  return text.split('\n').flatMap(line => wrapExactly(graphemes(line), columns).map(parts => parts.join('')))
}

interface Row {
  /** Its description is shown to the letter. */
  readonly exact?: boolean
  readonly prefix: string
  readonly label: string
  readonly focused: boolean
  readonly badges?: readonly string[]
  readonly description?: string
}

function rowLines(
  { prefix, label, focused, badges = [], description = '', exact = false }: Row,
  columns: number,
): Line[] {
  const indent = widthOf(prefix)
  const room = columns - indent
  const lines: Span[][] = wrap(label, room).map(text => [{ text, role: focused ? 'focused' : 'label' }])
  for (const badge of badges) {
    const text = `(${badge})`
    const last = lines.at(-1)
    if (last !== undefined && lineWidth(last) + 1 + text.length <= room)
      last.push({ text: ' ', role: 'plain' }, { text, role: 'badge' })
    else lines.push(...wrap(text, room).map(part => [{ text: part, role: 'badge' as const }]))
  }
  if (!isBlank(description))
    lines.push(
      ...(exact ? wrapWhole : wrap)(description, room).map(text => [{ text, role: 'description' as const }]),
    )
  return lines.map((line, index) => [
    index === 0
      ? { text: prefix, role: focused ? 'focused' : 'plain' }
      : { text: ' '.repeat(indent), role: 'plain' },
    ...line,
  ])
}

function prefixOf(
  index: number,
  { focus }: Draft,
  digits: number,
  multi: boolean,
  ticked: boolean,
  columns: number,
): string {
  const pointer = focus === index ? '>' : ' '
  const number = String(index + 1).padStart(digits)
  const mark = ticked ? 'x' : ' '
  const full = `${pointer} ${number}. ${multi ? `[${mark}]` : `(${mark})`} `
  return fitting([full, `${pointer}${number}${mark}`, pointer], columns)
}

// Where the screen is too narrow, the text has the room and what stands before it goes.
function fitting(prefixes: readonly string[], columns: number): string {
  return (
    prefixes.find(prefix => widthOf(prefix) + 8 <= columns) ?? (columns > 3 ? (prefixes.at(-1) ?? '') : '')
  )
}

interface Written {
  readonly lines: Line[]
  readonly cursor?: { readonly line: number; readonly column: number } | undefined
}

function ownRow(
  asked: PromptQuestion,
  draft: Draft,
  digits: number,
  multi: boolean,
  columns: number,
): Written {
  const { options, ownRow: own } = asked
  const index = options.length
  const focused = draft.focus === index
  const written = !isBlank(draft.editor.text)
  if (index === 0) {
    const prefix = fitting(['> ', '>'], columns)
    if (draft.editing || written) return writtenLines(draft.editor, draft.editing, prefix, columns)
    return { lines: rowLines({ prefix, label: visibleLine(own.label), focused: false }, columns) }
  }
  const marked = multi ? written : !isBlank(draft.outcome?.custom)
  const prefix = prefixOf(index, draft, digits, multi, marked, columns)
  const head = rowLines(
    { prefix, label: visibleLine(own.label), focused, description: visibleLine(own.description ?? '') },
    columns,
  )
  if (!draft.editing && draft.editor.text === '') return { lines: head }
  const { lines, cursor } = writtenLines(draft.editor, draft.editing, ' '.repeat(widthOf(prefix)), columns)
  return {
    lines: [...head, ...lines],
    cursor: cursor === undefined ? undefined : { ...cursor, line: cursor.line + head.length },
  }
}

function writtenLines(editor: Editor, editing: boolean, prefix: string, columns: number): Written {
  const indent = widthOf(prefix)
  const room = Math.max(1, columns - indent)
  const shown = graphemes(editor.text).map(grapheme => visibleLine(grapheme))
  const parts = wrapExactly(shown, room)
  if (widthOf((parts.at(-1) ?? []).join('')) >= room) parts.push([])
  const lines = parts.map((part, index): Line => [
    { text: index === 0 ? prefix : ' '.repeat(indent), role: 'plain' },
    { text: part.join(''), role: 'written' },
  ])
  if (!editing) return { lines }
  let left = graphemes(editor.text.slice(0, editor.cursor)).length
  let line = 0
  for (const part of parts) {
    if (left < part.length || line === parts.length - 1) break
    left -= part.length
    line += 1
  }
  const column = indent + widthOf((parts[line] ?? []).slice(0, left).join(''))
  return { lines, cursor: { line, column } }
}

function reviewDocument(state: PromptState, focus: number, columns: number): Document {
  const { questions, drafts } = state
  const title = WORDING.review(countGiven(confirmedAnswers(state)), questions.length)
  const lines: Line[] = [...wrapped(title, 'question', columns), []]
  const rows: Range[] = []
  const digits = String(questions.length).length
  const add = (row: readonly Line[]): void => {
    rows.push({ from: lines.length, to: lines.length + row.length })
    lines.push(...row)
  }
  questions.forEach(({ question }, index) => {
    const pointer = focus === index ? '>' : ' '
    const number = String(index + 1).padStart(digits)
    add(
      rowLines(
        {
          prefix: fitting([`${pointer} ${number}. `, `${pointer}${number}`, pointer], columns),
          label: shortName(question),
          focused: focus === index,
          description: describeOutcome(question, drafts[index]?.outcome),
        },
        columns,
      ),
    )
  })
  lines.push([])
  const pointer = focus === questions.length ? '>' : ' '
  add(
    rowLines(
      {
        prefix: fitting([`${pointer} `, pointer], columns),
        label: WORDING.send,
        focused: focus === questions.length,
      },
      columns,
    ),
  )
  return { lines, rows, focus: rows[focus] }
}

function replyDocument(state: PromptState, columns: number): Document {
  const lines: Line[] = [...wrapped(WORDING.replyTitle, 'question', columns), []]
  lines.push(...wrapped(WORDING.replyTo, 'description', columns))
  for (const { question } of state.questions)
    lines.push(...wrapped(visibleText(question.question), 'description', columns))
  lines.push([])
  const written = writtenLines(state.reply, true, fitting(['> ', '>'], columns), columns)
  const at = (written.cursor?.line ?? 0) + lines.length
  const cursor = { line: at, column: written.cursor?.column ?? 0 }
  return { lines: [...lines, ...written.lines], rows: [], focus: { from: at, to: at + 1 }, cursor }
}

function wrapped(text: string, role: Role, columns: number): Line[] {
  return wrap(text, columns).map(line => [{ text: line, role }])
}
