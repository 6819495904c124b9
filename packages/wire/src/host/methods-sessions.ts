import { createHash } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { sessionStartResultSchema, WireError, type SessionResumeParams } from '../protocol/index.ts'
import type { Connection } from './connection.ts'
import { parseCursor, type ViewPosition } from './cursor.ts'
import type { WireHost } from './host.ts'
import type { Handlers } from './dispatch.ts'
import type { SessionRecord } from './session-store.ts'
import { historyOf, lastTurnOf, lookOf, modeOf, pointersOf, toWireSession } from './session-view.ts'
import type { ViewLog } from './view-log.ts'

type SessionMethod = 'session/start' | 'session/resume' | 'session/read'

/** The longest name of a session, in UTF-16 units. */
const LONGEST_ID = 200

export const sessionMethods: Pick<Handlers, SessionMethod> = {
  async 'session/start'(call) {
    const { host, commandId, params, peer, connection } = call
    const { deps } = host
    refuseServers(params.config)
    const { sessionId = sessionIdOf(commandId), workspaceRoot = null, workspaceRoots, approvalMode } = params
    if (sessionId.trim() === '' || sessionId.length > LONGEST_ID || /[\p{C}\p{Zl}\p{Zp}]/u.test(sessionId))
      throw new WireError('invalidParams', `sessionId: expected 1 to ${LONGEST_ID} characters that show`)
    const known = await deps.sessions.session(sessionId)
    // Done before by a host that could not say so any more.
    const before = known?.value.commandId === commandId ? known.value : undefined
    const record: SessionRecord = before ?? {
      sessionId,
      commandId,
      createdAt: deps.now(),
      workspaceRoot: workspaceRoot ?? workspaceRoots?.[0] ?? null,
      ...(workspaceRoots === undefined ? {} : { workspaceRoots }),
      modelId: params.modelId ?? deps.agent?.model?.modelId ?? null,
      providerId: params.providerId ?? deps.agent?.model?.providerId ?? null,
      createdByClient: peer.clientInfo,
    }
    const held = before === undefined ? await host.open(record) : await host.hold(before.sessionId)
    if (held === undefined) {
      throw new WireError('commandRejected', 'there is a session of this id already; resume it', {
        commandId,
        reason: 'session_id_conflict',
        sessionId,
      })
    }
    const { session } = held
    await session.command(async () => {
      if (approvalMode !== undefined && approvalMode !== null)
        await deps.approvals.setMode(session.id, approvalMode)
      const look = lookOf(session)
      const wire = toWireSession(deps, look, await modeOf(deps, look, 'startup'), true)
      const result = { session: wire, viewCursor: session.log.cursor }
      await call.acknowledge(result)
      host.tellStarted(connection, { session: wire })
      call.reply(result)
      connection.use(session)
      connection.subscribe(session, { n: session.log.head, k: 0 })
    })
  },

  async 'session/resume'({ host, params, connection, reply }) {
    refuseServers(params.config)
    const { session } = await host.hold(params.sessionId)
    connection.use(session)
    await session.command(async () => {
      const look = lookOf(session)
      const mode = await modeOf(host.deps, look, 'replay')
      const from = placeOf(session.log, params)
      const fallsBack = from === undefined && typeof params.cursor === 'string'
      const wanted = fallsBack ? { ...params, cursor: undefined, history: 'snapshot' as const } : params
      const lastTurn = lastTurnOf(session.state)
      reply({
        session: toWireSession(host.deps, look, mode, true),
        viewCursor: session.log.cursor,
        history: historyOf(look, mode, wanted),
        pendingRequests: pointersOf(session.state),
        ...(lastTurn === undefined ? {} : { lastTurn }),
      })
      const place = from ?? { n: session.log.head, k: 0 }
      connection.subscribe(session, place)
      // What was opened behind that place is asked with its event.
      connection.askAgain(session, place)
    })
  },

  async 'session/read'({ host, params, reply }) {
    const { sessionId } = params
    const held = host.isHeld(sessionId)
    const look = held ? lookOf((await host.loaded(sessionId)).session) : await host.look(sessionId)
    const mode = await modeOf(host.deps, look, 'replay')
    const lastTurn = lastTurnOf(look.state)
    reply({
      session: toWireSession(host.deps, look, mode, held),
      viewCursor: look.log.cursor,
      history: historyOf(look, mode, { excludeItems: params.excludeItems }),
      pendingRequests: pointersOf(look.state),
      ...(lastTurn === undefined ? {} : { lastTurn }),
    })
  },
}

/** Subscribes a client to a session it has started before, as of then. Rejects when another host holds it by now. */
export async function rejoin(
  host: WireHost,
  connection: Connection,
  ack: object,
  reply: () => void,
): Promise<void> {
  const { session: started, viewCursor } = sessionStartResultSchema.parse(ack)
  const { session } = await host.hold(started.sessionId)
  await session.command(() => {
    const place = placeOf(session.log, { sessionId: session.id, cursor: viewCursor })
    reply()
    connection.use(session)
    connection.subscribe(session, place ?? { n: session.log.head, k: 0 })
  })
}

/** The id of a session whose client names none: made of the command's, so that the command done again finds it. */
function sessionIdOf(commandId: string): string {
  const random = createHash('sha256').update(commandId).digest().subarray(0, 16)
  return uuidv7({ msecs: Number.parseInt(commandId.replaceAll('-', '').slice(0, 12), 16), random })
}

// A real cursor that is too far ahead falls back to the snapshot, as one that is stale does.
function placeOf(
  log: ViewLog,
  { sessionId, cursor }: Pick<SessionResumeParams, 'sessionId' | 'cursor'>,
): ViewPosition | undefined {
  if (cursor === undefined || cursor === null) return undefined
  const place = parseCursor(sessionId, cursor)
  if (place === 'foreign')
    throw new WireError('sessionStreamMismatch', 'the cursor is of another session', { sessionId })
  if (place === 'malformed') throw new WireError('invalidParams', 'cursor: expected one that this host gave')
  return place.n > log.head ? undefined : place
}

function refuseServers(config: { readonly mcpServers?: unknown } | undefined): void {
  if (config?.mcpServers !== undefined)
    throw new WireError('capabilityRequired', 'this host runs no MCP servers for a session', {
      capability: 'sessionMcp',
    })
}
