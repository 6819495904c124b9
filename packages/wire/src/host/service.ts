import { Service, type Context } from 'cordis'
import type {} from '@handraise/inbox'
import type {} from '@handraise/tools'
import type {} from '@handraise/user-approvals'
import { arch, homedir, platform, release } from 'node:os'
import manifest from '../../package.json' with { type: 'json' }
import type { FrameChannel } from '../channel.ts'
import type { SessionAgent } from './agent.ts'
import { CommandLedger } from './command-ledger.ts'
import { schemaFingerprint } from './fingerprint.ts'
import { forgetSessions } from './forget-sessions.ts'
import { WireHost, type WireLimits } from './host.ts'
import { SessionStore } from './session-store.ts'

declare module 'cordis' {
  interface Context {
    wire: WireService
  }
}

export interface WireConfig {
  /** Runs the turns of sessions. Default: none; sessions of agents elsewhere can be looked at and answered. */
  readonly agent?: SessionAgent | undefined
  readonly limits?: WireLimits | undefined
  /** Goes on, at start, with every session whose turn was left by a host that is gone. Default false: when it is resumed. */
  readonly adopt?: boolean | undefined
  /** Where this host keeps its data, for people to read. Default: the home directory. */
  readonly home?: string | undefined
  /** Whether sessions outlive this process. Default true; false for an inbox in memory. */
  readonly durable?: boolean | undefined
  /** How long commands, and sessions in which nothing happens, are kept, in milliseconds. Default 30 days. */
  readonly retentionMs?: number | undefined
}

const RETENTION_MS = 30 * 24 * 60 * 60 * 1000

/** `ctx.wire`: hosts sessions for clients of the wire protocol, over the inbox, on whatever carries frames. */
export class WireService extends Service {
  static readonly inject = ['inbox', 'userApprovals', 'tools']

  private readonly host: WireHost
  private readonly ledger: CommandLedger
  private readonly config: WireConfig

  constructor(ctx: Context, config: WireConfig = {}) {
    super(ctx, 'wire')
    const { inbox, userApprovals: approvals, tools } = ctx
    const { store, clock } = inbox.core
    const { home = homedir(), agent, durable = true } = config
    this.config = config
    this.ledger = new CommandLedger(store, () => clock.now())
    this.host = new WireHost(
      {
        inbox,
        approvals,
        tools,
        agent,
        sessions: new SessionStore(store),
        ledger: this.ledger,
        pathOf: sessionId => `${home}#${sessionId}`,
        now: () => clock.now(),
        report: error => ctx.logger.error(error),
      },
      hostInfo(home, durable),
      config.limits,
    )
  }

  async *[Service.init](): AsyncGenerator<() => unknown, void, void> {
    const { ctx, host, config } = this
    const { clock } = ctx.inbox.core
    const before = clock.now() - (config.retentionMs ?? RETENTION_MS)
    await this.ledger.prune(before)
    await forgetSessions(host.deps, before)
    await host.start()
    yield () => host.close()
    ctx.on('user-approvals/ended', ({ request, outcome }) =>
      host.approvalEnded(request.session ?? '', outcome),
    )
    // Only counted: what is asked reaches clients through their sessions.
    yield await ctx.inbox.attachSurface({
      name: 'wire',
      viewers: () => host.viewers(),
      opened() {},
      settled() {},
    })
    if (config.adopt === true) await host.adopt()
  }

  /** Answers one client until it is gone, or this service is disposed. */
  serve(channel: FrameChannel): Promise<void> {
    return this.host.serve(channel)
  }
}

function hostInfo(museHome: string, durable: boolean) {
  const { version } = manifest
  const os = { darwin: 'macos', win32: 'windows' }[platform() as string] ?? 'linux'
  return {
    serverInfo: { name: 'handraise', version },
    userAgent: `handraise/${version} (${os} ${release()}; ${arch()})`,
    museHome,
    platformFamily: os === 'windows' ? ('windows' as const) : ('unix' as const),
    platformOs: os as 'linux' | 'macos' | 'windows',
    schema: { version: 1, fingerprint: schemaFingerprint() },
    sessionDurability: durable ? 'durable' : 'ephemeral',
  }
}
