// What JSON leaves as it is and a terminal or a reader would obey instead of show: control and format characters, and the
// separators of lines and paragraphs.
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A value as one line of JSON in which nothing is left to obey. */
export function jsonLine(value: object): string {
  return `${JSON.stringify(value).replace(OBEYED, escapeUnits)}\n`
}

function escapeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('')
}
