import type { Inbox } from '@handraise/inbox'
import type {} from '@handraise/user-approvals'
import type {} from '@handraise/user-questions'
import type { Context } from 'cordis'
import { InboxLog } from './inbox-log.ts'
import { openFileSink, streamSink } from './line-sink.ts'
import { LineWriter } from './line-writer.ts'
import { askedLine, endedLine, ruledLine } from './log-line.ts'
import { withinMs } from './within-ms.ts'

export interface AskLogOptions {
  /** A file that lines are added to, or a stream such as `process.stderr`. */
  readonly to: string | NodeJS.WritableStream
  /** Writes what was asked and what was typed, too. Default false: headers, labels and how it ended. */
  readonly text?: boolean | undefined
}

/** How long the last lines may take when the plugin is disposed, in milliseconds. */
const LAST_LINES_MS = 2_000

/** How long mounting waits until it is known from where on to write, in milliseconds. */
const BEGIN_MS = 5_000

/**
 * A line of JSON for each request when it opens, and for each when it is settled: through the inbox where there is one,
 * whichever process asked and answered; else for each ask of `ctx.userQuestions`. Nobody waits for a write: one that fails is told
 * once, as a warning of the process, and tried again. Rejects with `AskLogError` `LOG_UNUSABLE` when the file cannot be written.
 */
export const askLog = {
  name: 'ask-log',

  async apply(ctx: Context, { to, text = false }: AskLogOptions): Promise<void> {
    const sink = typeof to === 'string' ? await openFileSink(to) : streamSink(to)
    const writer = new LineWriter(sink, warning => process.emitWarning(warning))
    const report = (error: unknown): void => ctx.logger.error(error)
    const logs = new Set<InboxLog>()
    const lookups = new Set<Promise<void>>()
    ctx.effect(
      () => async () => {
        const until = performance.now() + LAST_LINES_MS
        // Begun at once: the inbox may be closed at the same time.
        await withinMs(Promise.all([...lookups, ...Array.from(logs, log => log.close())]), LAST_LINES_MS)
        await writer.end(Math.max(0, until - performance.now()))
        sink.close()
      },
      'askLog',
    )
    logSeam(ctx, writer, text)
    logRulings(ctx, writer, { text, report, lookups })
    const following = ctx.inject(['inbox'], async function* ({ inbox: { core: inbox } }) {
      const log = new InboxLog({ inbox, sink, writer, text, report })
      logs.add(log)
      yield async () => {
        await withinMs(log.close(), LAST_LINES_MS)
        logs.delete(log)
      }
      const wake = (): void => void log.catchUp()
      yield await inbox.follow({ entry: wake, lost: wake })
      await withinMs(log.begin(), BEGIN_MS)
    })
    // Without an inbox it would be waited for in vain.
    if (ctx.get('inbox') !== undefined) await following
  },
}

function logSeam(ctx: Context, writer: LineWriter, text: boolean): void {
  /** By the id of the ask, what it is asked by: those that no inbox says anything of. */
  const asked = new Map<string, string | undefined>()
  ctx.on('user-questions/asked', ask => {
    if (ctx.get('inbox') !== undefined) return
    asked.set(ask.id, ctx.get('userQuestions')?.provider()?.name)
    writer.hold(askedLine(ask, text))
  })
  ctx.on('user-questions/settled', ask => {
    const provider = asked.get(ask.id)
    if (asked.delete(ask.id)) writer.hold(endedLine(ask, provider, text))
  })
}

// What a rule or a mode decides is asked of nobody, and is in no inbox.
function logRulings(
  ctx: Context,
  writer: LineWriter,
  {
    text,
    report,
    lookups,
  }: {
    readonly text: boolean
    readonly report: (error: unknown) => void
    /** What has to be known yet before a line is written. */
    readonly lookups: Set<Promise<void>>
  },
): void {
  ctx.on('user-approvals/ended', ({ request, outcome }) => {
    const inbox = ctx.get('inbox')?.core
    if (inbox === undefined || outcome.outcome !== 'decided') return
    const { approvalId, requirements } = outcome
    const at = inbox.clock.now()
    for (const requirement of requirements) {
      if (requirement.resolvedBy !== 'policy') continue
      const id = `${approvalId}.${requirement.index}`
      const lookup = tellUnlessAsked({ id, inbox, report }, () =>
        writer.hold(ruledLine(request, requirement, { id, at, text })),
      ).finally(() => lookups.delete(lookup))
      lookups.add(lookup)
    }
  })
}

async function tellUnlessAsked(
  {
    id,
    inbox,
    report,
  }: { readonly id: string; readonly inbox: Inbox; readonly report: (error: unknown) => void },
  tell: () => void,
): Promise<void> {
  try {
    if ((await inbox.store.get(id)) !== undefined) return
  } catch (error) {
    // Where that cannot be known, a line too many is better than one that is missing.
    report(error)
  }
  tell()
}
