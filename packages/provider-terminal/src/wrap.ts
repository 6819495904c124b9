import stringWidth from 'string-width'

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const PRINTABLE_ASCII = /^[\u0020-\u007e]*$/u

/** What a person sees as one character each: nothing is ever cut inside one. */
export function graphemes(text: string): string[] {
  if (PRINTABLE_ASCII.test(text)) return Array.from(text)
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** Columns the text takes in a terminal. Give it text without control codes. */
export function widthOf(text: string): number {
  return stringWidth(text)
}

/** At most `columns` wide; what does not fit is cut and marked with `…`. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  if (columns < 1) return ''
  let kept = ''
  let width = 0
  for (const grapheme of graphemes(text)) {
    width += widthOf(grapheme)
    if (width > columns - 1) break
    kept += grapheme
  }
  return `${kept}…`
}

/**
 * The text in lines of at most `columns` (1 at least): broken at spaces where there are any, else between graphemes.
 * Only the spaces at a break are left out; a grapheme wider than a whole line is shown as `?`.
 */
export function wrap(text: string, columns: number): string[] {
  return text.split('\n').flatMap(line => wrapLine(line, Math.max(1, columns)))
}

/** The same broken between graphemes alone, so that each place in the text has one place on the screen. */
export function wrapExactly(shown: readonly string[], columns: number): string[][] {
  const lines: string[][] = [[]]
  let width = 0
  for (const grapheme of shown) {
    const own = widthOf(grapheme)
    if (width + own > columns) {
      lines.push([])
      width = 0
    }
    lines.at(-1)?.push(own > columns ? '?' : grapheme)
    width += Math.min(own, columns)
  }
  return lines
}

function wrapLine(text: string, columns: number): string[] {
  if (text.length <= columns && PRINTABLE_ASCII.test(text)) return [text]
  const lines: string[] = []
  let line: string[] = []
  let width = 0
  let breakAt = 0
  let indented = true
  const endLine = (rest: string[]): void => {
    lines.push(line.slice(0, line.length - rest.length).join(''))
    line = rest
    width = rest.reduce((sum, grapheme) => sum + widthOf(grapheme), 0)
    breakAt = 0
  }
  for (const grapheme of graphemes(text)) {
    const own = widthOf(grapheme)
    const shown = own > columns ? '?' : grapheme
    const shownWidth = own > columns ? 1 : own
    if (width + shownWidth > columns) {
      if (grapheme === ' ' && !indented) {
        endLine([])
        continue
      }
      if (breakAt > 0) endLine(line.slice(breakAt))
      if (width + shownWidth > columns) endLine([])
    }
    line.push(shown)
    width += shownWidth
    if (grapheme !== ' ') indented = false
    // Indentation is part of the first word; ideographs may be parted anywhere.
    if (!indented && (grapheme === ' ' || own === 2)) breakAt = line.length
  }
  lines.push(line.join(''))
  return lines.map((each, index) => (index < lines.length - 1 ? each.replace(/ +$/u, '') : each))
}
