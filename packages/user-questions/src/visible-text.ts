// Control codes (C0, DEL, C1), format characters that reorder or hide text (bidirectional controls, interlinear and tag
// characters, the byte order mark), line and paragraph separators, and halves of surrogate pairs.
// eslint-disable-next-line no-control-regex
const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu

/**
 * Text from a model as a person may safely be shown it: whatever a terminal or a reader would obey instead of show is
 * written out, such as `\u001b`. Line breaks stay, a tab becomes two spaces. For display only: answers carry the
 * original.
 */
export function visibleText(text: string): string {
  return text.replace(/\r\n/gu, '\n').replace(UNSAFE, character => {
    if (character === '\n') return '\n'
    if (character === '\t') return '  '
    const code = character.codePointAt(0) ?? 0
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The same on one line: line breaks become spaces. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(/\s*\n\s*/gu, ' ')
}
