// How text is written where a person decides about it: whatever shows nothing, is obeyed instead of shown, moves its
// neighbours, or looks like something else is written out as `<U+202E>`, so that texts which differ look different.
// `visibleText` of the questions keeps a model from driving a terminal; this also keeps it from pretending.

const PLAIN_ASCII = /^[\u0020-\u007e]*$/u
const ESCAPE_START = '<U+'

/** Scripts whose letters are shown. Right-to-left ones are not among them: they reorder what stands around them. */
const SHOWN_SCRIPTS =
  'Greek Cyrillic Armenian Georgian Ethiopic Han Hiragana Katakana Hangul Bopomofo Devanagari Bengali Gurmukhi Gujarati ' +
  'Oriya Tamil Telugu Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Khmer'
const SHOWN_SCRIPT = new RegExp(
  `^(?:${SHOWN_SCRIPTS.split(' ')
    .map(script => `\\p{Script_Extensions=${script}}`)
    .join('|')})$`,
  'u',
)
/** Latin letters with marks; not phonetic letters, nor clicks, which look like `|` and `!`. */
const SHOWN_LATIN = /^(?!\p{Lo})(?=\p{Script=Latin})[\u00c0-\u024f\u1e00-\u1eff]$/u
/** Control, format, unassigned and private characters, halves of pairs, every blank but the space, and what is drawn as one. */
const SHOWS_NOTHING = /^(?:\p{C}|\p{Z}|\p{Default_Ignorable_Code_Point}|[\u2800\ufffc\u{1d159}])$/u
/** Marks that go on any letter, and the parts of which Korean syllables are put together. */
const COMBINES = /^(?:\p{Me}|(?=\p{M})\p{Script=Inherited}|[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff])$/u
/** Punctuation and symbols that could not be taken for what a path, a quotation or a shell means by them. */
const SHOWN_PUNCTUATION = /^[\u00a1\u00a7\u00b6\u00b7\u00bf\u2022\u3001-\u3003\u3008-\u3011\u3014-\u301b]$/u
const SHOWN_FULL_WIDTH = /^[\uff01\uff05\uff08\uff09\uff0b\uff0c\uff1a\uff1b\uff1f]$/u
const SHOWN_SYMBOL = /^(?:\p{Sc}|[\u00a9\u00ac\u00ae\u00b0\u00b1\u00d7\u00f7\u2190-\u2194]|\p{So})$/u
/** Bars, diagonals, ornaments and letters of no script, which look like `|`, `/`, `\` and quotation marks. */
const LOOKS_LIKE_SYNTAX =
  /^(?:[\u00a6\u2500-\u257f\u2758-\u2760\u29f5\u29f8\u29f9]|(?!\u30fc)(?=\p{L})\p{Script=Common})$/u

/** Letters that are drawn like ASCII ones: a word of nothing else could be read as an ASCII word. */
const DRAWN_LIKE_ASCII = /^[асԁеһіјӏорԗԛѕԝхуъЬҽпгѵѡАВЕЅІЈКМНОРСТУХҮԌԚԜҺΑΒΕΖΗΙΚΜΝΟΡΤΥΧανικορυγօոսցհքզՏՕՍԼ]$/u
const MIXES_UNSEEN = /^(?:\p{Script=Greek}|\p{Script=Cyrillic}|\p{Script=Armenian})$/u
const WORD = /[\p{L}\p{N}\p{M}_]+/gu

/**
 * The text on one line, exactly: line breaks, control and format characters, blanks other than a space, marks that combine,
 * right-to-left letters, dashes, curly quotes and letters that look like ASCII are written out by their code, such as
 * `<U+000A>`. Two texts that differ are written differently, whatever they hold. Nothing is cut.
 */
export function exactText(text: string): string {
  if (PLAIN_ASCII.test(text) && !text.includes(ESCAPE_START)) return text
  const characters = Array.from(text)
  const hidden = characters.map((character, index) => isHidden(character, characters, index))
  hideLookAlikes(text, hidden)
  hideWhatComposes(characters, hidden)
  return characters
    .map((character, index) => (hidden[index] === true ? codeOf(character) : character))
    .join('')
}

/** The same of several lines: only `\n` breaks one, and blanks at the end of a line are written out. */
export function exactLines(text: string): string[] {
  return text
    .split('\n')
    .map(line => exactText(line).replace(/ +$/u, blanks => codeOf(' ').repeat(blanks.length)))
}

/** True of text that is shown as it is: nothing in it has to be written out. */
export function isPlain(text: string): boolean {
  return exactText(text) === text
}

/**
 * One word as a POSIX shell would have to be given it: bare when it holds letters, digits and `_@%+=,./-` alone, otherwise
 * in single quotes. So `rm 'a b'` and `rm a b` differ, and so does a word from the words around it.
 */
export function quoteWord(word: string): string {
  if (/^[A-Za-z0-9_@%+=,./-]+$/u.test(word)) return word
  return `'${exactText(word).replaceAll("'", String.raw`'\''`)}'`
}

/** The words of a command, told apart by spaces. A first word with `=` is quoted, since bare it would be an assignment. */
export function quoteWords(words: readonly string[]): string {
  return words
    .map((word, index) => {
      const quoted = quoteWord(word)
      return index === 0 && quoted === word && word.includes('=') ? `'${word}'` : quoted
    })
    .join(' ')
}

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `${ESCAPE_START}${code.toString(16).toUpperCase().padStart(4, '0')}>`
}

function isHidden(character: string, characters: readonly string[], index: number): boolean {
  if (character === '<') return characters[index + 1] === 'U' && characters[index + 2] === '+'
  if (PLAIN_ASCII.test(character)) return false
  if (SHOWS_NOTHING.test(character) || COMBINES.test(character)) return true
  if (SHOWN_FULL_WIDTH.test(character)) return false
  // One of two characters that are the same to everybody but a computer; Thai and Lao are not written without theirs.
  if (character.normalize('NFKC') !== character && !/^[\u0e33\u0eb3]$/u.test(character)) return true
  if (LOOKS_LIKE_SYNTAX.test(character)) return true
  if (/^\p{M}$/u.test(character)) {
    const before = characters[index - 1]
    return before === undefined || !/^[\p{L}\p{M}]$/u.test(before) || !SHOWN_SCRIPT.test(character)
  }
  if (/^[\p{L}\p{N}]$/u.test(character)) return !SHOWN_LATIN.test(character) && !SHOWN_SCRIPT.test(character)
  if (/^\p{P}$/u.test(character)) return !SHOWN_PUNCTUATION.test(character)
  return !SHOWN_SYMBOL.test(character)
}

function hideLookAlikes(text: string, hidden: boolean[]): void {
  let units = 0
  let index = 0
  for (const { 0: word, index: start } of text.matchAll(WORD)) {
    // Matches are found by UTF-16 units, and characters are whole.
    index += Array.from(text.slice(units, start)).length
    const letters = Array.from(word)
    const mixed = /[A-Za-z]/u.test(word)
    const posing = letters.every(letter => DRAWN_LIKE_ASCII.test(letter) || /^[0-9_]$/u.test(letter))
    letters.forEach((letter, offset) => {
      if (posing ? DRAWN_LIKE_ASCII.test(letter) : mixed && MIXES_UNSEEN.test(letter))
        hidden[index + offset] = true
    })
    index += letters.length
    units = start + word.length
  }
}

/** Marks that would melt into the letter before them, so that the text equals one with a single letter there. */
function hideWhatComposes(characters: readonly string[], hidden: boolean[]): void {
  const shown = characters.filter((_, index) => hidden[index] !== true).join('')
  if (shown.normalize('NFC') === shown) return
  characters.forEach((character, index) => {
    if (/^\p{M}$/u.test(character)) hidden[index] = true
  })
}
