import { foldLabel } from '@handraise/user-questions/types'
import { labelsOf, type FieldSchema } from './form-schema.ts'

/** Where these stand, in a name, a title or a description, a secret is meant. */
const CLEAR =
  /pass ?(?:words?|phrases?|codes?|wd)\b|\b(?:api|ssh|private|secret|encryption|signing) ?keys?\b|\b(?:access|auth|bearer|refresh|id|session|api) ?tokens?\b|\b(?:credit|debit) ?cards?\b|\bcard ?(?:number|no)\b|\b(?:cvv|cvc|csc)\b|\bcredentials?\b|\bpin (?:code|number)\b|\bone time (?:code|password)\b|\bconnection ?string\b/u
/** These mean one as a name or a title, and often nothing of the kind within a sentence. */
const AS_NAME = /\b(?:pin|otp|totp|pwd)s?\b/u
/** These do for a text; a number of tokens is a number. */
const AS_NAME_OF_TEXT = /secrets?\b|tokens?\b|\bsecret|\bpass$|\bpw$/u

/** True for a field that takes a secret as it is typed, by its name, title and description (MCP, Elicitation: no form may). */
export function asksForSecret(name: string, field: FieldSchema): boolean {
  // A choice, or a yes or no about a secret, gives none away.
  if (field.type === 'boolean' || labelsOf(field) !== undefined) return false
  const names = [name, field.title ?? ''].map(asWords)
  return (
    [...names, asWords(field.description ?? '')].some(text => CLEAR.test(text)) ||
    names.some(text => AS_NAME.test(text) || (field.type === 'string' && AS_NAME_OF_TEXT.test(text)))
  )
}

/** As words, whether it was written as apiKey2, api_key, api.key or API key, with marks and characters that do not show. */
function asWords(text: string): string {
  const words = text
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '')
    .replaceAll(/([a-z])([A-Z])/gu, '$1 $2')
    .replaceAll(/[-_.\d\s]+/gu, ' ')
  return foldLabel(words).trim()
}
