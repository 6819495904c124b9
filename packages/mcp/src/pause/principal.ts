import { isBlank } from '@handraise/user-questions/types'
import type { ServerContext } from '@modelcontextprotocol/server'

/** Who asks: a name for everybody whose request carries no token, or what tells who it is from the request. */
export type PrincipalOption = string | ((ctx: ServerContext) => string)

/** Throws `TypeError` for a name that is none. */
export function checkPrincipal(option: PrincipalOption): void {
  if (typeof option === 'string' && isBlank(option))
    throw new TypeError('the principal needs a name, and an empty one is none')
}

/**
 * Who asks, by the credentials of the request and never by what a client says of itself (MCP 2026-07-28, Elicitation). A
 * verified token stands for its client and, where the verifier named one in `extra.sub`, its user; a new token of the same
 * two is the same principal. A whole number for a user is the same as its digits. Throws `TypeError` for anything else that
 * is there as a user and is no text: it could not be told from the next one.
 */
export function principalOf(option: PrincipalOption, ctx: ServerContext): string {
  if (typeof option === 'function') {
    const told: unknown = option(ctx)
    // Whoever is nobody in particular must not be the same as the next one.
    if (typeof told !== 'string' || told === '')
      throw new TypeError('the principal of a request is not known')
    return JSON.stringify(['told', told])
  }
  const auth = ctx.http?.authInfo
  if (auth === undefined) return JSON.stringify(['name', option])
  return JSON.stringify(['token', auth.clientId, userOf(auth.extra?.sub)])
}

function userOf(sub: unknown): string | null {
  if (sub === undefined) return null
  if (typeof sub === 'string') return sub
  // Beyond those, different ones are read as the same number.
  if (typeof sub === 'number' && Number.isSafeInteger(sub)) return String(sub)
  throw new TypeError('the user of a token is not known: its extra.sub is no text')
}
