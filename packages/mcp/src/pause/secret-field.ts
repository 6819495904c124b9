import { labelsOf, type FieldSchema } from './form-schema.ts'
import { asWords, SECRET, SECRET_WHEN_ASKED, WHOSE } from './secret-words.ts'

const MEANS_SECRET = whole(SECRET)
/** These mean one as the end of a name or a title, and often nothing of the kind within a sentence. */
const NAMES_NUMBER = /\b(?:pin|otp|totp|pwd)s?$/u
/** These do for a text; a number of tokens is a number. */
const NAMES_TEXT = new RegExp(String.raw`\b(?:${SECRET_WHEN_ASKED})$|\bsecrets?\b|^(?:${WHOSE} )*pass$`, 'u')

/**
 * True for a field that takes a secret as it is typed, by its name, title and description (MCP, Elicitation: no form may). Strict:
 * whoever builds the form can name its fields otherwise.
 */
export function asksForSecret(name: string, field: FieldSchema): boolean {
  // A choice, or a yes or no about a secret, gives none away.
  if (field.type === 'boolean' || labelsOf(field) !== undefined) return false
  const names = [name, field.title ?? ''].map(asWords)
  return (
    [...names, asWords(field.description ?? '')].some(text => MEANS_SECRET.test(text)) ||
    names.some(text => (field.type === 'string' ? NAMES_TEXT : NAMES_NUMBER).test(text))
  )
}

// Scripts without spaces have no boundaries of words.
function whole(words: string): RegExp {
  return new RegExp(String.raw`(?<![a-z\d])(?:${words})(?![a-z\d])`, 'u')
}
