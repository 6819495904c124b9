/** Where these stand a secret is meant: a source of a regular expression over what `asWords` returns. */
export const SECRET = [
  String.raw`pass ?(?:words?|phrases?|codes?|wd)`,
  String.raw`passwort|passworter|kennwort|mots? de passe|contrasenas?|parola d ordine`,
  'пароль|пароля|密码|密碼|口令|ハスワート|비밀번호'.normalize('NFKD'),
  String.raw`(?:api|ssh|private|secret|access|encryption|signing|licen[cs]e|open ?ai|anthropic|aws|stripe|git ?hub) ?keys?`,
  String.raw`(?:access|auth|bearer|refresh|id|session|api|bot|deploy|git ?hub|git ?lab|npm) ?tokens?`,
  String.raw`(?:git ?hub|git ?lab|azure|personal) pats?`,
  String.raw`(?:client|signing|webhook|shared) ?secrets?`,
  String.raw`(?:credit|debit) ?cards?|card ?(?:number|no)|cvv|cvc|csc`,
  String.raw`credentials?|social security (?:number|no)|ssn`,
  String.raw`pin (?:code|number)`,
  String.raw`(?:one time|2 ?fa|mfa|verification|recovery|backup|login) (?:code|password)s?`,
  String.raw`(?:seed|recovery|secret) ?phrases?|mnemonics?`,
  String.raw`connection ?strings?|(?:database|db|postgres|mysql|mongo ?db|redis) ?(?:url|uri|dsn)`,
].join('|')

/** These are one when somebody is asked for them, or as all of a name. */
export const SECRET_WHEN_ASKED = String.raw`(?<!\b(?:design|css|style|max|stop|next|first|last) )token|secrets?|(?<!\b(?:gpio|led|board) )pins?|otps?|totps?|pwds?|pw`

/** These only when somebody is asked to hand them over. */
export const SECRET_WHEN_HANDED_OVER = String.raw`pass|pat|jwts?|cookies?|bearer`

/** Whose a secret is: what may stand before it in a name. */
export const WHOSE = String.raw`(?:db|database|smtp|imap|ftp|ssh|e?mail|user|admin|root|sudo|login|account|wifi|server|proxy|my ?sql|postgres|redis|aws|git ?hub|git ?lab|open ?ai|sim|card|security)`

/** As words, whether it was written as apiKey2, api_key, api.key or API key, with marks and characters that do not show. */
export function asWords(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '')
    .replaceAll(/([a-z])([A-Z])/gu, '$1 $2')
    .toLowerCase()
    .replaceAll(/(?<=\p{L}{3})\d+\b/gu, '')
    .replaceAll(/[^\p{L}\p{N}?!;,]+/gu, ' ')
    .trim()
}
