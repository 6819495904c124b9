import { isBlank, visibleLine } from '@handraise/user-questions/types'
import { controlLines } from './controls.ts'
import { questionTitle, toDocument, type Document } from './document.ts'
import { cutLine, lineWidth, type Line, type Span } from './line.ts'
import type { PromptState } from './state.ts'
import { isInSight, type Range, type Viewport } from './viewport.ts'
import { clockTime, WORDING } from './wording.ts'
import { cut, wrap } from './wrap.ts'

/** Columns and rows of a terminal. 0 or no number stands for an unknown size, taken as 80 by 24. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** What is on the screen at one moment, without colour. */
export interface Frame {
  /** Fewer than there are rows, none wider than there are columns. */
  readonly lines: readonly Line[]
  /** Where the person is writing; absent when the cursor is hidden. */
  readonly cursor?: { readonly row: number; readonly column: number } | undefined
  readonly viewport: Viewport
}

const CHIP_COLUMNS = 12

/** Draws a prompt for a terminal of this size, whatever the size. Pure. */
export function render(state: PromptState, size: Size): Frame {
  const { columns, rows } = knownSize(size)
  const budget = Math.max(1, rows - 1)
  const all = toDocument(state, columns)
  const roomy = budget >= 12
  const most = rows >= 10 ? 2 : 1
  const isLong = all.lines.length > budget - most * 2
  const controls = budget < 2 ? [] : controlLines(state, columns, most, isLong)
  const hint = budget < 3 ? [] : hintLines(state, columns, roomy ? 3 : 1)
  const head = budget - controls.length - hint.length < 3 ? [] : [undefined]
  const needsHead = headSpans(state).length > 0 || isLong
  const height = Math.max(1, budget - controls.length - hint.length - (needsHead ? head.length : 0))
  const body = fit(all, state.scroll, height)
  const before = needsHead && head.length > 0 ? [headLine(state, body.viewport, columns)] : []
  const gap = body.lines.length < height && controls.length + hint.length > 0 ? [[]] : []
  const lines: Line[] = [
    ...before,
    ...body.lines,
    ...gap,
    ...hint.map((text): Line => [{ text, role: 'hint' }]),
    ...controls.map((text): Line => [{ text, role: 'controls' }]),
  ]
  return {
    lines: lines.map(line => cutLine(line, columns)),
    cursor:
      body.cursor === undefined
        ? undefined
        : {
            row: body.cursor.row + before.length,
            column: Math.min(body.cursor.column, columns - 1),
          },
    viewport: body.viewport,
  }
}

export function knownSize({ columns, rows }: Size): Size {
  const known = (value: number, fallback: number): number =>
    Number.isFinite(value) && value >= 1 ? Math.floor(value) : fallback
  return { columns: known(columns, 80), rows: known(rows, 24) }
}

interface Body {
  readonly lines: readonly Line[]
  readonly cursor?: { readonly row: number; readonly column: number } | undefined
  readonly viewport: Viewport
}

// What is in focus is always on the screen: in its place, or, while the person reads elsewhere, below what they read.
function fit(all: Document, scroll: PromptState['scroll'], height: number): Body {
  const total = all.lines.length
  const { focus, cursor } = all
  const clamp = (top: number, shown: number): number => Math.min(Math.max(0, top), Math.max(0, total - shown))
  let top = clamp(scroll.top, height)
  if (focus !== undefined && (scroll.follow || height < 2)) top = follow(all, focus, top, height)
  if (focus === undefined || isInSight(focus, { top, height })) {
    return {
      lines: all.lines.slice(top, top + height),
      cursor: cursor === undefined ? undefined : { row: cursor.line - top, column: cursor.column },
      viewport: { top, height, total, rows: all.rows },
    }
  }
  const pinned = all.lines.slice(
    focus.from,
    Math.min(focus.to, focus.from + Math.max(1, Math.floor(height / 3))),
  )
  const parting: Line[] = height > 3 ? [[{ text: '…', role: 'faint' }]] : []
  const read = height - parting.length - pinned.length
  top = clamp(scroll.top, read)
  return {
    lines: [...all.lines.slice(top, top + read), ...parting, ...pinned],
    cursor:
      cursor === undefined
        ? undefined
        : { row: read + parting.length + cursor.line - focus.from, column: cursor.column },
    viewport: { top, height: read, total, rows: all.rows },
  }
}

function follow(all: Document, focus: Range, top: number, height: number): number {
  // The first row brings the question back with it, where both fit.
  if (focus.from === all.rows[0]?.from && focus.to <= height) return 0
  if (focus.from < top) return focus.from
  return focus.to > top + height ? Math.min(focus.from, focus.to - height) : top
}

function hintLines({ hint }: PromptState, columns: number, most: number): string[] {
  if (hint === undefined) return []
  const lines = wrap(hint, columns)
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), cut(lines.slice(most - 1).join(' '), columns)]
}

function headSpans(state: PromptState): Span[] {
  const { view, questions, deadlineAt, now } = state
  const spans: Span[] = []
  const question = view.name === 'question' ? questions[view.index]?.question : undefined
  if (view.name === 'question' && question !== undefined) {
    if (!isBlank(question.header))
      spans.push({ text: cut(visibleLine(question.header ?? '').trim(), CHIP_COLUMNS), role: 'chip' })
    if (questions.length > 1)
      spans.push({ text: WORDING.position(view.index + 1, questions.length), role: 'faint' })
  }
  if (deadlineAt !== undefined)
    spans.push({ text: WORDING.timeLeft(clockTime(deadlineAt - now)), role: 'hint' })
  return spans.flatMap((span, index) => (index === 0 ? [span] : [{ text: '  ', role: 'plain' }, span]))
}

function headLine(state: PromptState, { top, height, total }: Viewport, columns: number): Line {
  const spans = headSpans(state)
  const add = (span: Span): void => {
    if (spans.length > 0) spans.push({ text: '  ', role: 'plain' })
    spans.push(span)
  }
  const place: Span[] =
    total > height && columns >= 40
      ? [{ text: WORDING.more(top + 1, Math.min(total, top + height), total), role: 'faint' }]
      : []
  const question = state.view.name === 'question' ? state.questions[state.view.index] : undefined
  if (top > 0 && question !== undefined) {
    const room = columns - lineWidth(spans) - 2 - lineWidth(place) - (place.length > 0 ? 2 : 0)
    add({ text: cut(questionTitle(question.question), Math.max(room, 1)), role: 'question' })
  }
  for (const span of place) add(span)
  return spans
}
