import { useEffect, useMemo, useReducer, useRef } from 'preact/hooks'
import type { InboxClient, PublicRequest, PublicSettlement } from '@handraise/provider-web/client'
import { answersOf, emptyDraft, givenOf, type How, type RequestDraft, type Sending } from './draft.ts'
import { keptDrafts } from './keep.ts'
import { send } from './send.ts'
import type { Issues } from './views/request-card.tsx'

export interface DraftsOptions {
  readonly live: boolean
  readonly refused: () => void
  readonly settled: (request: PublicRequest) => void
  readonly late: (id: string, settlement: PublicSettlement) => void
  readonly gone: (id: string) => void
}

export interface Drafts {
  of(id: string): RequestDraft
  change(request: PublicRequest, draft: RequestDraft): void
  decide(request: PublicRequest, how: How, draft: RequestDraft): void
  /** The decision on its way did not arrive, as far as is known. */
  unsent(id: string): boolean
  sendAgain(id: string): void
  /** Takes the decision back to be changed. It may have arrived all the same. */
  callOff(id: string): void
  issues(id: string): Issues
  /** Whether a command was sent from this page. */
  isMine(commandId: string): boolean
  remove(id: string): void
}

const RETRY_MS = 5_000
const NO_ISSUES: Issues = []

/** What the person typed and chose, kept at every change; and what they sent, until it is known to have arrived. */
export function useDrafts(client: InboxClient, options: DraftsOptions): Drafts {
  const [, paint] = useReducer((count: number) => count + 1, 0)
  const latest = useRef(options)
  latest.current = options
  const keeper = useMemo(
    () =>
      new DraftKeeper(
        client,
        () => latest.current,
        () => paint(undefined),
      ),
    [client],
  )
  // What could not be sent before is sent when the server is there again.
  useEffect(() => {
    if (options.live) keeper.sendAll()
  }, [options.live, keeper])
  useEffect(() => () => keeper.close(), [keeper])
  return keeper
}

class DraftKeeper implements Drafts {
  private readonly client: InboxClient
  private readonly options: () => DraftsOptions
  private readonly paint: () => void
  private readonly drafts = keptDrafts.readAll()
  private readonly refusals = new Map<string, Issues>()
  private readonly failed = new Set<string>()
  private readonly inFlight = new Set<string>()
  private readonly engaged = new Set<string>()
  private readonly mine = new Set<string>()
  private readonly unfollow: () => void
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(client: InboxClient, options: () => DraftsOptions, paint: () => void) {
    this.client = client
    this.options = options
    this.paint = paint
    this.unfollow = keptDrafts.follow((id, draft) => {
      // Nobody types on two pages at once: the one that is looked at has the last word.
      if (draft === undefined || document.hasFocus()) return
      this.drafts.set(id, draft)
      this.paint()
    })
    for (const { sent } of this.drafts.values()) for (const commandId of sent) this.mine.add(commandId)
  }

  of(id: string): RequestDraft {
    return this.drafts.get(id) ?? emptyDraft
  }

  change(request: PublicRequest, draft: RequestDraft): void {
    const { id, deadline } = request
    this.keep(id, draft)
    if (deadline === undefined || this.engaged.has(id)) return
    // A person who began to answer is not to run out of time.
    this.engaged.add(id)
    this.client.engaged(id).catch(() => this.engaged.delete(id))
  }

  decide(request: PublicRequest, how: How, draft: RequestDraft): void {
    const { id, questions = [] } = request
    if (this.of(id).sending !== undefined) return
    const sending: Sending = {
      commandId: crypto.randomUUID(),
      how,
      ...(how === 'answer' ? { answers: answersOf(questions, draft) } : {}),
      ...(how === 'cancel' || how === 'interrupt' ? { answers: givenOf(questions, draft) } : {}),
      ...(how === 'clarify' ? { text: draft.reply } : {}),
    }
    this.refusals.delete(id)
    this.mine.add(sending.commandId)
    // Kept before it is sent: a page that is reloaded meanwhile sends the same again.
    this.keep(id, { ...draft, sending, sent: [...draft.sent, sending.commandId].slice(-20) })
    void this.send(id)
  }

  unsent(id: string): boolean {
    return this.failed.has(id)
  }

  sendAgain(id: string): void {
    void this.send(id)
  }

  sendAll(): void {
    for (const [id, { sending }] of this.drafts) if (sending !== undefined) void this.send(id)
  }

  callOff(id: string): void {
    this.failed.delete(id)
    this.keep(id, { ...this.of(id), sending: undefined })
  }

  issues(id: string): Issues {
    return this.refusals.get(id) ?? NO_ISSUES
  }

  isMine(commandId: string): boolean {
    return this.mine.has(commandId)
  }

  remove(id: string): void {
    this.drafts.delete(id)
    this.refusals.delete(id)
    this.engaged.delete(id)
    keptDrafts.remove(id)
    this.paint()
  }

  close(): void {
    this.unfollow()
    clearTimeout(this.timer)
  }

  private keep(id: string, draft: RequestDraft): void {
    this.drafts.set(id, draft)
    keptDrafts.write(id, draft)
    this.paint()
  }

  private async send(id: string): Promise<void> {
    const { sending } = this.of(id)
    if (sending === undefined || this.inFlight.has(id)) return
    this.inFlight.add(id)
    const sent = await send(this.client, id, sending).finally(() => this.inFlight.delete(id))
    // Called off, or changed, in between: what it became is told by the events.
    if (this.of(id).sending?.commandId !== sending.commandId) return
    const { settled, late, gone, refused } = this.options()
    this.failed.delete(id)
    switch (sent.result) {
      case 'settled':
        settled(sent.request)
        return this.remove(id)
      case 'late':
        this.callOff(id)
        return late(id, sent.settlement)
      case 'gone':
        this.callOff(id)
        return gone(id)
      case 'refused':
        this.refusals.set(id, sent.issues)
        return this.callOff(id)
      case 'unauthorized':
        return refused()
      case 'unsent':
        this.failed.add(id)
        this.timer ??= setTimeout(() => {
          this.timer = undefined
          this.sendAll()
        }, RETRY_MS)
        return this.paint()
    }
  }
}
