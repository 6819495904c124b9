import type { Context } from 'cordis'
import type { Command, Decision } from '../decision.ts'
import { isSettled, type InboxRequest, type SettledRequest } from '../request.ts'
import type { LogEntry } from '../store.ts'
import { FaithfulSurface, surfacesOf } from './faithful-surface.ts'
import { turn } from './scene.ts'
import type { ShownEnding, SurfaceHarness, SurfaceResult } from './surface-harness.ts'

/** A surface with one promise broken, and the case of the suite that must find it out. */
export interface BrokenSurface {
  readonly does: string
  readonly failsCase: string
  readonly harness: SurfaceHarness
}

const HOUR_MS = 60 * 60 * 1000

function broken(
  does: string,
  failsCase: string,
  Surface: new (ctx: Context) => FaithfulSurface,
): BrokenSurface {
  // The broken ones never do what is waited for, so they are not waited for long.
  return { does, failsCase, harness: surfacesOf(Surface, { withinMs: 2_000, many: 150 }) }
}

/** At least one for each case of the suite. */
export const brokenSurfaces: readonly BrokenSurface[] = [
  broken(
    'shows only what is of today',
    'shows what was pending before it was attached',
    class extends FaithfulSurface {
      protected override show(request: InboxRequest): void {
        if (Date.now() - request.openedAt < 24 * HOUR_MS) super.show(request)
      }
    },
  ),
  broken(
    'shows the first page of what is pending',
    'shows all of what is pending, however many there are',
    class extends FaithfulSurface {
      protected override async pending(): Promise<InboxRequest[]> {
        return [...(await this.inbox.list({ state: 'pending', limit: 100 })).requests]
      }
    },
  ),
  broken(
    'leaves out what was asked under a key',
    'shows what is opened later',
    class extends FaithfulSurface {
      protected override show(request: InboxRequest): void {
        if (request.key === undefined) super.show(request)
      }
    },
  ),
  broken(
    'follows from where the log is after it has listed',
    'misses nothing that is opened while it is being attached',
    class extends FaithfulSurface {
      private attached = false

      protected override async follow(): Promise<void> {
        if (!this.attached) {
          const listedAt = this.cursor
          // Slow enough for something to be opened in between, where something is.
          for (let turns = 0; turns < 2 && this.cursor === listedAt; turns += 1) {
            await turn()
            this.cursor = await this.inbox.store.end()
          }
          this.attached = true
        }
        await super.follow()
      }
    },
  ),
  broken(
    'shows again what somebody begins to answer',
    'shows a request once, however often it is told of it',
    class extends FaithfulSurface {
      protected override heard(entry: LogEntry): void {
        super.heard(entry)
        const again = this.visible.filter(({ id }) => id === entry.request.id)
        if (entry.change === 'engaged') this.visible = [...this.visible, ...again]
      }
    },
  ),
  broken(
    'strips what looks like mark-up',
    'shows the question as it was asked',
    class extends FaithfulSurface {
      protected override written(text: string): string {
        return text.replaceAll(/<[^>]*>/gu, '')
      }
    },
  ),
  broken(
    'leaves up what was withdrawn',
    'takes down what is settled elsewhere, in whatever way',
    class extends FaithfulSurface {
      protected override end(request: SettledRequest): void {
        if (request.settlement.outcome !== 'aborted') super.end(request)
      }
    },
  ),
  broken(
    'takes down all of one text',
    'leaves the others up when one is settled',
    class extends FaithfulSurface {
      protected override end(request: SettledRequest): void {
        const { settlement } = request
        const [text] = this.visible.flatMap(({ id, question }) => (id === request.id ? question : []))
        const same = this.visible.filter(({ question }) => question === text)
        super.end(request)
        // Its own answers are for the one request.
        if (settlement.surface === 'elsewhere') for (const { id } of same) this.takeDown(id)
      }
    },
  ),
  broken(
    'calls every ending an answer',
    'tells how a request ended that was settled elsewhere',
    class extends FaithfulSurface {
      protected override toldOf({ surface }: SettledRequest['settlement']): ShownEnding {
        return { outcome: 'answered', surface }
      }
    },
  ),
  broken(
    'stops at a kind that it does not know',
    'goes on after a request of a kind that nobody knows',
    class extends FaithfulSurface {
      protected override show(request: InboxRequest): void {
        if (this.inbox.kindOf(request) === undefined) this.stop()
        else super.show(request)
      }
    },
  ),
  broken(
    'counts as nobody',
    'counts as a place where somebody could see a request, as long as it is attached',
    class extends FaithfulSurface {
      protected override viewers(): number {
        return 0
      }
    },
  ),
  broken(
    'strips (Recommended) from the label',
    'hands the chosen labels on word for word',
    class extends FaithfulSurface {
      protected override send(id: string, decision: Decision, command: Command): Promise<void> {
        return super.send(id, changedText(decision, ' (Recommended)', ''), command)
      }
    },
  ),
  broken(
    'changes quotation marks in what is typed',
    'hands text on word for word',
    class extends FaithfulSurface {
      protected override send(id: string, decision: Decision, command: Command): Promise<void> {
        return super.send(id, changedText(decision, '\\"', "'"), command)
      }
    },
  ),
  broken(
    'answers the first request of a text',
    'answers the request that was meant, and no other',
    class extends FaithfulSurface {
      protected override send(id: string, decision: Decision, command: Command): Promise<void> {
        const text = this.visible.find(request => request.id === id)?.question
        const first = this.visible.find(({ question }) => question === text)
        return super.send(first?.id ?? id, decision, command)
      }
    },
  ),
  broken(
    'sends a decision twice',
    'settles a request with one command',
    class extends FaithfulSurface {
      protected override async send(id: string, decision: Decision, command: Command): Promise<void> {
        await super.send(id, decision, command)
        await super.send(id, decision, { ...command, commandId: crypto.randomUUID() }).catch(() => {})
      }
    },
  ),
  broken(
    'takes a refusal to answer for a dismissal',
    'records a refusal to answer as declined',
    class extends FaithfulSurface {
      override decline(id: string): Promise<SurfaceResult> {
        return this.decide(id, { outcome: 'cancelled' })
      }
    },
  ),
  broken(
    'fails when somebody was faster',
    'says who was faster when an answer comes late',
    class extends FaithfulSurface {
      protected override late(): SurfaceResult {
        throw new Error('conflict')
      }
    },
  ),
  broken(
    'says that a late answer counts',
    'says who was faster when an answer comes late',
    class extends FaithfulSurface {
      protected override late(): SurfaceResult {
        return { result: 'settled' }
      }
    },
  ),
  broken(
    'keeps to itself that a person has begun',
    'tells the inbox that a person has begun to answer',
    class extends FaithfulSurface {
      override async engage(): Promise<void> {}
    },
  ),
  broken(
    'gives up what has waited for half an hour',
    'settles nothing for a person who does nothing',
    class extends FaithfulSurface {
      protected override heard(entry: LogEntry): void {
        super.heard(entry)
        const { id, openedAt } = entry.request
        if (Date.now() - openedAt > HOUR_MS / 2) void this.decide(id, { outcome: 'cancelled' })
      }
    },
  ),
  broken(
    'dismisses what it shows when it is detached',
    'leaves what is pending as it is when it is detached',
    class extends FaithfulSurface {
      override detach(): void {
        super.detach()
        for (const { id } of this.visible) void this.decide(id, { outcome: 'cancelled' }).catch(() => {})
      }
    },
  ),
  broken(
    'goes on listening',
    'leaves nobody listening when it is detached',
    class extends FaithfulSurface {
      override detach(): void {
        const stop = this.stop.bind(this)
        this.stop = () => {}
        super.detach()
        this.stop = stop
      }
    },
  ),
  broken(
    'takes the last of the news that come at once',
    'catches up with news that come late',
    class extends FaithfulSurface {
      private isCatchingUp = false
      private latest: LogEntry | undefined

      protected override async follow(): Promise<void> {
        this.isCatchingUp = true
        await super.follow()
        this.isCatchingUp = false
      }

      protected override heard(entry: LogEntry): void {
        if (this.isCatchingUp) return super.heard(entry)
        if (this.latest === undefined) queueMicrotask(() => this.take())
        this.latest = entry
      }

      private take(): void {
        if (this.latest !== undefined) super.heard(this.latest)
        this.latest = undefined
      }
    },
  ),
  broken(
    'shows an opening a little later, as it was',
    'shows nothing that was settled before it could be shown',
    class extends FaithfulSurface {
      protected override heard(entry: LogEntry): void {
        super.heard(entry)
        const { change, request } = entry
        if (change !== 'opened' || !isSettled(request)) return
        const { settlement: _, ...asOpened } = request
        setImmediate(() => this.show(asOpened))
      }
    },
  ),
  broken(
    'stays as it is when the log is lost',
    'shows what is pending anew when the log was lost',
    class extends FaithfulSurface {
      private isAway = false

      override async disconnect(): Promise<() => Promise<void>> {
        const mend = await super.disconnect()
        this.isAway = true
        return mend
      }

      protected override lost(): void {
        if (this.isAway) super.lost()
        else this.listIfForgotten().catch(() => super.lost())
      }

      private async listIfForgotten(): Promise<void> {
        const found = await Promise.all(this.visible.map(({ id }) => this.inbox.store.get(id)))
        if (found.includes(undefined)) super.lost()
      }
    },
  ),
  broken(
    'leaves up what it cannot look up any more',
    'takes down what was settled and forgotten while the log was lost',
    class extends FaithfulSurface {
      private readonly asShown = new Map<string, InboxRequest>()

      protected override show(request: InboxRequest): void {
        this.asShown.set(request.id, request)
        super.show(request)
      }

      protected override async pending(): Promise<InboxRequest[]> {
        const pending = await super.pending()
        for (const { id } of this.visible) {
          const shown = this.asShown.get(id)
          if (shown !== undefined && (await this.inbox.store.get(id)) === undefined) pending.push(shown)
        }
        return pending
      }
    },
  ),
  broken(
    'gives up when it cannot list anew',
    'goes on after a store that failed while the log was lost',
    class extends FaithfulSurface {
      protected override listAnew(): void {
        this.list().catch(() => {})
      }
    },
  ),
  broken(
    'follows anew when the log is lost, and as before too',
    'follows no more often than before when the log was lost',
    class extends FaithfulSurface {
      protected override lost(): void {
        this.listAnew()
      }
    },
  ),
  broken(
    'passes over what happened while it was away',
    'goes on where it was when its connection comes back',
    class extends FaithfulSurface {
      override async disconnect(): Promise<() => Promise<void>> {
        const mend = await super.disconnect()
        return async () => {
          const missed = await this.inbox.store.since(this.cursor)
          if (!('lost' in missed)) this.cursor = missed.cursor
          await mend()
        }
      }
    },
  ),
  broken(
    'only adds to what it showed when it comes back without a cursor',
    'shows what is pending anew when its cursor was lost while it was away',
    class extends FaithfulSurface {
      private isBack = false

      override async disconnect(): Promise<() => Promise<void>> {
        const mend = await super.disconnect()
        this.isBack = true
        return mend
      }

      protected override async pending(): Promise<InboxRequest[]> {
        const pending = await super.pending()
        if (!this.isBack) return pending
        return [...(await Promise.all(this.visible.map(({ id }) => this.inbox.get(id)))), ...pending]
      }
    },
  ),
]

function changedText(decision: Decision, from: string, to: string): Decision {
  return JSON.parse(JSON.stringify(decision).replaceAll(from, to)) as Decision
}
