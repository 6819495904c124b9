import { cut, widthOf } from './wrap.ts'

/** What a piece of text is; how that looks is decided in `paint.ts`. */
export type Role =
  | 'plain'
  | 'chip'
  | 'faint'
  | 'question'
  | 'detail'
  | 'label'
  | 'focused'
  | 'badge'
  | 'description'
  | 'written'
  | 'hint'
  | 'controls'

export interface Span {
  readonly text: string
  readonly role: Role
}

export type Line = readonly Span[]

export function lineWidth(line: Line): number {
  return widthOf(lineText(line))
}

export function lineText(line: Line): string {
  return line.map(({ text }) => text).join('')
}

/** At most `columns` wide, cut with `…`. */
export function cutLine(line: Line, columns: number): Line {
  if (lineWidth(line) <= columns) return line
  const kept: Span[] = []
  let left = columns
  for (const { text, role } of line) {
    const width = widthOf(text)
    // A span that fills the line exactly still needs its mark: something after it is lost.
    if (width < left) {
      kept.push({ text, role })
      left -= width
      continue
    }
    const shown = width === left ? cut(`${text} `, left) : cut(text, left)
    kept.push({ text: shown, role })
    break
  }
  return kept
}
