import type { TextStyle } from '@handraise/elicitation'
import { visibleLine, visibleText } from '@handraise/user-questions/types'

// A line in which Markdown finds no markup: where it would, a backslash stands before it.
const INLINE = /[\\`*[\]<>~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|&(?=#?\w+;)/gu
const AT_START = /^(?:[-+=#]|\d+[.)])/u

/** The text on one line, of which Markdown makes nothing. */
export function escaped(text: string): string {
  return visibleLine(text)
    .trim()
    .replace(INLINE, String.raw`\$&`)
    .replace(AT_START, start => `${start.slice(0, -1)}\\${start.slice(-1)}`)
}

/** The text as a code block, with every blank and break; nothing for no text. */
export function fenced(text: string): string {
  if (text === '') return ''
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/gu), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

/** Breaks, and blanks that Markdown would not show: at the edges, and more than one in a row. */
const LAID_OUT = /\n|^\s|\s$|\s{2}/u

/**
 * How an editor is told what a model or a host wrote. Editors read Markdown, in which such a text must draw nothing: no
 * picture that is fetched from elsewhere, no link that hides where it goes, no heading that looks like one of theirs.
 */
export const MARKDOWN: TextStyle = {
  line: escaped,
  block(text) {
    const visible = visibleText(text)
    return LAID_OUT.test(visible) ? fenced(visible) : escaped(visible)
  },
}
