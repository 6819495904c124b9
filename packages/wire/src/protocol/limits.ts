/** The most characters of a free text, a note, and a clarification. */
export const FREE_TEXT_LIMIT = 500

/** The most events of one page. */
export const VIEW_PAGE_LIMIT = 1_000

/**
 * Whether a text keeps to `FREE_TEXT_LIMIT`, counted in code points. The protocol does not say what a character is, and a
 * text never has more code points than UTF-16 units: what a client found short enough, counting either way, is accepted.
 */
export function fitsFreeText(text: string): boolean {
  // Longer than two units for each cannot fit, and need not be taken apart.
  return text.length <= 2 * FREE_TEXT_LIMIT && Array.from(text).length <= FREE_TEXT_LIMIT
}
