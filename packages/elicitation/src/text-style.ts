import { visibleLine, visibleText } from '@handraise/user-questions/types'

/** How text that others wrote is put for those who show it. Whatever a terminal or a reader would obey is written out before. */
export interface TextStyle {
  /** On one line: a question, a title. */
  line(text: string): string
  /** With its line breaks: a detail, a description. */
  block(text: string): string
}

/** For who shows text as it is, without markup. */
export const PLAIN_TEXT: TextStyle = { line: visibleLine, block: visibleText }
