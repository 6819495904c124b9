import { CLIENT_INFO_META_KEY, type McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { canShowForms, fillsIn } from './ask-tool-form.ts'
import type { PauseContext } from './pause/handlers.ts'
import { principalOf, type PrincipalOption } from './pause/principal.ts'

/** Who made a call, and over what. */
export interface Caller {
  /** The session of the inbox that holds what this principal asks. */
  readonly session: string
  /** What names the call when it is made again, if the client says so. */
  readonly key: string | undefined
  /** Speaks 2026-07-28: is asked by a result, and not by a request of the server. */
  readonly modern: boolean
  readonly showsForms: boolean
  /** Fills in what its person left out of a form. */
  readonly fillsIn: boolean
  readonly clientName: string
  /** Aborts when nobody can be told the result any more. */
  readonly left: AbortSignal
  /** Tells that the call waits still, if the client wants to know. */
  progress(progress: number, message: string): void
}

/**
 * Where clients put the id that the model gave its tool call; sent again, it is the same call. Claude Code has one of its own,
 * the other is for whoever has none.
 */
const CALL_ID_KEYS = ['claudecode/toolUseId', 'handraise/callId'] as const

const callIdSchema = z.string().min(1).max(200)
const clientInfoSchema = z.object({ name: z.string() })

export function callerOf(server: McpServer, ctx: PauseContext, principal: PrincipalOption): Caller {
  const { mcpReq, http } = ctx
  const envelope: { readonly [key: string]: unknown } | undefined = mcpReq.envelope
  const told = clientInfoSchema.safeParse(
    envelope?.[CLIENT_INFO_META_KEY] ?? server.server.getClientVersion(),
  )
  const progressToken = mcpReq._meta?.progressToken
  return {
    session: sessionOf(principalOf(principal, ctx)),
    key: keyOf(mcpReq._meta),
    modern: envelope !== undefined,
    showsForms: canShowForms(ctx.clientCapabilities),
    fillsIn: fillsIn(ctx.clientCapabilities),
    clientName: told.data?.name ?? '',
    left: http?.req === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, http.req.signal]),
    progress(progress, message) {
      if (progressToken === undefined) return
      const params = { progressToken, progress, message }
      // Whoever is gone needs no progress.
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
    },
  }
}

/** Such as `mcp/name/local`, for a principal as `principalOf` tells it; another for each. */
function sessionOf(principal: string): string {
  const parts = (JSON.parse(principal) as (string | null)[]).filter(part => part !== null)
  return ['mcp', ...parts.map(part => encodeURIComponent(Buffer.from(part).toString()))].join('/')
}

function keyOf(meta: { readonly [key: string]: unknown } | undefined): string | undefined {
  for (const name of CALL_ID_KEYS) {
    const id = callIdSchema.safeParse(meta?.[name])
    if (id.success) return `call ${id.data}`
  }
  return undefined
}
