import { InboxError, isSettled, type Inbox, type InboxRequest, type InboxSurface } from '@handraise/inbox'
import { UserQuestionError, type Clock, type UserQuestionProvider } from '@handraise/user-questions/types'
import { adoptPrompt, adoptResolved } from './adoption.ts'
import { toAuditDraft, toCancelledDraft } from './audit.ts'
import { ThreadError } from './error.ts'
import { HandOn, type MessageHandler } from './hand-on.ts'
import type { ThreadDraft, ThreadItem } from './items.ts'
import { OpenPrompts, type OpenPrompt, type OpenPromptsState } from './open-prompts.ts'
import { askedOf, promptIdOf, toPromptDraft } from './prompt.ts'
import type { SeveralPolicy } from './read-reply.ts'
import { ReadingPlace } from './reading-place.ts'
import { Replies } from './replies.ts'
import { SeenItems } from './seen-items.ts'
import { ThreadCalls } from './thread-calls.ts'
import { isWithin, scanThread, type ResolvedSpan } from './thread-scan.ts'
import type { ThreadStore } from './thread-store.ts'
import { isTrue } from './verdict.ts'
import { MOST_TRIES, WaitingRequests } from './waiting-requests.ts'

export interface ThreadLoopOptions {
  readonly inbox: Inbox
  readonly store: ThreadStore
  readonly threadId: string
  readonly takes: (request: InboxRequest) => boolean
  readonly whenBusy: 'wait' | 'supersede'
  readonly several: SeveralPolicy
  readonly mayAnswer: (author: string, request: InboxRequest) => boolean
  readonly onMessage: MessageHandler | undefined
  readonly from: 'start' | { readonly cursor: string } | undefined
  readonly clock: Clock
  readonly report: (error: unknown) => void
}

/** Looked at even if nothing tells that there is more, in milliseconds. */
const POLL_MS = 60_000
/** How long the end waits for a post that is on its way, in milliseconds. */
const STOP_WITHIN_MS = 5_000
/** How long to wait with the next try, in milliseconds; the last holds for all that follow. */
const RETRIES_MS = [250, 1_000, 4_000, 16_000, 30_000]
const SUPERSEDED = 'a second question superseded it'

/** A prompt could not be posted: the fault is that of this one request, and others may go first. */
class UnpostedPrompt extends Error {
  readonly requestId: string

  constructor(requestId: string, cause: unknown) {
    super('a prompt could not be posted', { cause })
    this.requestId = requestId
  }
}

/**
 * Everything that happens in a thread, one step after the other: reads what is new, answers with it, says how prompts
 * ended, then asks what waits. What is pending is in the inbox, and what was posted is in the thread; a step that fails is
 * taken again from the reading on, since a post that failed may be in the thread.
 */
export class ThreadLoop {
  /** Resolves once the thread was read, or could not be read at the first try. */
  readonly begun: Promise<void>
  private readonly options: ThreadLoopOptions
  private readonly calls: ThreadCalls
  private readonly place: ReadingPlace
  private readonly waiting = new WaitingRequests()
  private readonly handOn: HandOn
  private prompts = new OpenPrompts()
  private seen = new SeenItems()
  private replies: Replies
  private cursor: string | undefined
  private isRead = false
  private noteBegun = (): void => {}
  private running = false
  private again = false
  private failures = 0
  /** How often in a row the store failed while something was to be posted. */
  private undelivered = 0
  /** What was open in a thread that another one was put in place of. */
  private lost: OpenPromptsState | undefined
  private spans: readonly ResolvedSpan[] = []
  /** Nothing is posted before, in milliseconds since the Unix epoch. */
  private retryAt = 0
  private isUnreadable = false
  private callOff = (): void => {}
  private stopped = false

  constructor(options: ThreadLoopOptions) {
    this.options = options
    const { inbox, store, threadId, clock, report, onMessage } = options
    this.calls = new ThreadCalls(store, threadId, clock, report)
    this.place = new ReadingPlace(inbox, threadId)
    this.handOn = new HandOn(onMessage, report)
    this.replies = this.makeReplies()
    this.begun = new Promise(resolve => {
      this.noteBegun = resolve
    })
  }

  /** Rejects with `THREAD_IN_USE`. */
  async claim(): Promise<void> {
    await this.place.claim()
  }

  follow(): () => void {
    return this.calls.follow(() => this.wake())
  }

  /** What tells the loop of the inbox. Nobody looks at it: what it shows may be seen elsewhere. */
  surface(): InboxSurface {
    const opened = (request: InboxRequest): void => {
      this.waiting.opened(request, this.takes(request))
      this.wake()
    }
    return {
      name: 'thread',
      viewers: () => 0,
      opened,
      engaged: opened,
      settled: ({ id }) => {
        this.waiting.settled(id)
        this.wake()
      },
    }
  }

  /** Ends an ask only when its prompt cannot be posted: what is answered is decided in the inbox. */
  provider(): UserQuestionProvider {
    return {
      name: 'thread',
      ask: async ({ id, signal }) => {
        const { inbox } = this.options
        const request = await inbox.get(id)
        if (!this.takes(request)) throw notShown('no-capable-client', 'it is not for this thread')
        if (this.askedOf(request) === undefined)
          throw notShown('unsupported-question', 'it cannot be put as a prompt of a thread')
        const asking = this.waiting.ask(id, signal, this.failuresBefore())
        // Whoever asks now is not to wait as long as those who have been told that it fails.
        if (this.failures >= MOST_TRIES) this.retryAt = 0
        this.wake()
        return asking
      },
    }
  }

  start(): void {
    this.wake()
  }

  /**
   * Posts nothing any more, and gives the thread free. A post that is on its way is waited for, up to 5 seconds; one that
   * takes longer keeps neither the caller nor the process, but the thread until it has ended.
   */
  async stop(): Promise<void> {
    if (this.stopped) return
    this.end()
    this.calls.callOff('since')
    const released = this.place.release(this.calls.posted()).catch((error: unknown) => {
      if (!isClosed(error)) this.options.report(error)
    })
    let disarm = (): void => {}
    const late = new Promise<void>(resolve => {
      disarm = this.options.clock.after(STOP_WITHIN_MS, resolve)
    })
    await Promise.race([released, late])
    disarm()
    this.calls.callOff('post')
  }

  private end(): void {
    this.stopped = true
    this.callOff()
    this.handOn.stop()
    this.noteBegun()
  }

  private wake(): void {
    this.again = true
    if (!this.running && !this.stopped) void this.run()
  }

  private async run(): Promise<void> {
    this.running = true
    this.callOff()
    while (this.again && !this.stopped) {
      this.again = false
      try {
        await this.pass()
        if (this.retryAt <= this.now()) this.succeeded()
      } catch (error) {
        this.fail(error)
      }
      this.noteBegun()
    }
    this.running = false
    this.arm()
  }

  private arm(): void {
    const now = this.now()
    const retryAt = this.retryAt > now ? this.retryAt : Infinity
    const at = Math.min(retryAt, this.waiting.nextRetryAfter(now), now + POLL_MS)
    if (!this.stopped) this.callOff = this.options.clock.after(at - now, () => this.wake())
  }

  private now(): number {
    return this.options.clock.now()
  }

  private fail(thrown: unknown): void {
    if (this.stopped || isClosed(thrown)) return
    const ofOne = thrown instanceof UnpostedPrompt
    const error = ofOne ? thrown.cause : thrown
    this.options.report(error)
    if (ThreadError.isInstance(error) && error.code === 'THREAD_TAKEN') {
      this.end()
      this.place.forget()
      this.waiting.end(error)
      return
    }
    if (ofOne) {
      const count = this.waiting.postFailed(thrown.requestId, error)
      this.waiting.retryAt(thrown.requestId, this.now() + delayAfter(count))
      return this.wake()
    }
    this.failures += 1
    this.retryAt = this.now() + delayAfter(this.failures)
    // Only the thread itself can keep a question from being posted, and only one whose turn it would be.
    if (!ThreadError.isInstance(error) || error.code !== 'STORE_FAILED' || this.isAsking()) return
    this.undelivered += 1
    this.waiting.allFailed(error, id => this.isOpen(id))
  }

  private succeeded(): void {
    this.failures = 0
    this.undelivered = 0
    this.waiting.succeeded()
  }

  private failuresBefore(): number {
    return this.isAsking() ? 0 : Math.min(this.undelivered, MOST_TRIES - 1)
  }

  // True while what waits is to wait for a person to answer what is open.
  private isAsking(): boolean {
    if (this.options.whenBusy === 'supersede') return false
    return this.prompts.all().some(({ requestId }) => requestId !== undefined && this.waiting.has(requestId))
  }

  private async pass(): Promise<void> {
    // Whatever wakes it meanwhile: what could not be read is not asked for without end.
    if (this.isUnreadable && this.retryAt > this.now()) return
    do await this.read()
    while (!this.stopped && this.retryAt <= this.now() && (await this.advance()))
  }

  private async read(): Promise<void> {
    const wasUnreadable = this.isUnreadable
    this.isUnreadable = true
    if (!this.isRead) await this.begin()
    try {
      await this.readOn()
    } catch (error) {
      if (!ThreadError.isInstance(error) || error.code !== 'BAD_CURSOR') throw error
      this.options.report(error)
      this.isRead = false
      this.lost = this.prompts.save()
      await this.begin()
      await this.readOn()
    }
    this.isUnreadable = false
    // It was the reading that failed, and not a post.
    if (wasUnreadable) this.retryAt = 0
  }

  // What is open in the thread is known from the record, or from reading all of it.
  private async begin(): Promise<void> {
    const { inbox, from } = this.options
    this.prompts = new OpenPrompts()
    this.seen = new SeenItems()
    this.replies = this.makeReplies()
    const place = this.lost === undefined ? this.place.place : undefined
    if (place !== undefined) {
      this.prompts.restore(place.prompts)
      this.cursor = place.cursor
    } else {
      const scan = await scanThread(this.calls, this.prompts)
      if (this.lost !== undefined) this.prompts.restoreLost(this.lost, scan.over)
      for (const { prompt, item } of scan.resolved) await adoptResolved(inbox, prompt, item)
      this.cursor = from === undefined ? scan.cursor : from === 'start' ? undefined : from.cursor
      if (from === undefined) for (const item of scan.before) this.seen.add(item)
      else this.spans = scan.spans
      // What comes while nothing runs is read from here.
      if (this.cursor !== undefined) this.note(this.cursor)
    }
    // Before anything is asked: an agent that comes back finds what is open.
    for (const prompt of this.prompts.all()) await this.requestOf(prompt)
    this.isRead = true
    this.lost = undefined
    this.noteBegun()
  }

  private async readOn(): Promise<void> {
    for await (const page of this.calls.pages(this.cursor)) {
      for (const item of page.items) {
        if (this.stopped) return
        await this.take(item)
      }
      if (page.cursor !== this.cursor || page.items.length > 0) this.note(page.cursor)
      if (this.stopped) return
    }
  }

  // Only what was handled is not read again.
  private note(cursor: string): void {
    this.cursor = cursor
    const prompts = this.prompts.save()
    this.handOn.after(async () => {
      if (this.stopped) return
      try {
        await this.place.save({ cursor, prompts })
      } catch (error) {
        if (ThreadError.isInstance(error)) this.fail(error)
        else if (!isClosed(error)) throw error
      }
    })
  }

  private async take(item: ThreadItem): Promise<void> {
    if (item.author === this.calls.self) {
      const change = this.prompts.take(item)
      if (change?.change === 'unreadable') this.calls.reportItem(item, change.issues)
      return
    }
    // What was said to a prompt that is over is no message to anybody.
    if (!this.seen.isNew(item) || isWithin(this.spans, item.position)) return
    const why = await this.replies.take(item)
    if (this.stopped) return
    this.seen.add(item)
    if (why !== undefined) this.handOn.give(item, why)
  }

  /** Takes the one step that is next, if there is one: true when something changed, and is to be read first. */
  private async advance(): Promise<boolean> {
    for (const prompt of this.prompts.all()) {
      const draft = await this.endingOf(prompt)
      if (draft === undefined) continue
      // The asker is told before the thread is.
      await this.options.inbox.caughtUp()
      await new Promise<void>(resolve => setImmediate(resolve))
      return this.post(draft)
    }
    for (const prompt of this.prompts.all())
      if (prompt.toAsk !== undefined || prompt.isLost === true) return this.askMissing(prompt)
    if (this.options.whenBusy === 'supersede' && (await this.supersede())) return true
    if (this.prompts.size > 0) return false
    const next = this.waiting.next(this.now(), request => this.askedOf(request) !== undefined)
    return next === undefined ? false : this.ask(next.id)
  }

  private async endingOf(prompt: OpenPrompt): Promise<ThreadDraft | undefined> {
    const adopted = await this.adopt(prompt)
    if ('refused' in adopted) return toCancelledDraft(prompt, adopted.refused)
    const { request } = adopted
    if (!isSettled(request)) return undefined
    return toAuditDraft(
      this.prompts.get(prompt.promptId) ?? prompt,
      request,
      this.askedOf(request, prompt)?.questions,
    )
  }

  private async ask(requestId: string): Promise<boolean> {
    const request = await this.options.inbox.store.get(requestId)
    const asked = request === undefined ? undefined : this.askedOf(request)
    if (request === undefined || asked === undefined || isSettled(request)) {
      this.waiting.settled(requestId)
      return true
    }
    const promptId = promptIdOf(request)
    try {
      await this.post(toPromptDraft(promptId, request, asked))
    } catch (error) {
      if (ThreadError.isInstance(error) && error.code === 'STORE_FAILED')
        throw new UnpostedPrompt(requestId, error)
      throw error
    }
    this.prompts.note(promptId, { requestId })
    return true
  }

  private async askMissing(prompt: OpenPrompt): Promise<boolean> {
    const { promptId, toAsk, origin } = prompt
    const request = await this.requestOf(prompt)
    const asked = request === undefined ? undefined : this.askedOf(request, prompt)
    if (request === undefined || asked === undefined) return false
    await this.post(toPromptDraft(promptId, request, asked, toAsk ?? origin?.kept))
    this.prompts.note(promptId, { toAsk: undefined })
    return true
  }

  private async supersede(): Promise<boolean> {
    const open = this.prompts.all().flatMap(({ requestId }) => requestId ?? [])
    const canPost = (request: InboxRequest): boolean =>
      !this.isOpen(request.id) && this.askedOf(request) !== undefined
    const superseded = this.waiting.supersededOf(open, canPost)
    for (const id of superseded) {
      const decision = { outcome: 'cancelled', reason: SUPERSEDED } as const
      const command = {
        commandId: `superseded ${promptIdOf({ id })}`,
        surface: 'thread',
        by: 'policy',
      } as const
      await this.options.inbox.decide(id, decision, command).catch((error: unknown) => {
        if (!InboxError.isInstance(error) || error.code !== 'ALREADY_SETTLED') throw error
      })
      this.waiting.settled(id)
    }
    return superseded.length > 0
  }

  private async post(draft: ThreadDraft): Promise<boolean> {
    await this.place.check()
    if (this.stopped) return false
    this.prompts.take(await this.calls.post(draft), true)
    this.succeeded()
    return true
  }

  private async requestOf(prompt: OpenPrompt): Promise<InboxRequest | undefined> {
    const adopted = await this.adopt(prompt)
    return 'request' in adopted ? adopted.request : undefined
  }

  private async adopt(prompt: OpenPrompt): Promise<Awaited<ReturnType<typeof adoptPrompt>>> {
    const { inbox } = this.options
    const known = prompt.requestId === undefined ? undefined : await inbox.store.get(prompt.requestId)
    if (known !== undefined) return { request: known }
    const adopted = await adoptPrompt(inbox, prompt)
    if ('request' in adopted) this.prompts.note(prompt.promptId, { requestId: adopted.request.id })
    return adopted
  }

  private askedOf(request: InboxRequest, prompt?: OpenPrompt): ReturnType<typeof askedOf> {
    return askedOf(request, this.options.inbox.kindOf(request), prompt?.kind)
  }

  private isOpen(requestId: string): boolean {
    return this.prompts.all().some(prompt => prompt.requestId === requestId)
  }

  private takes(request: InboxRequest): boolean {
    const { takes, threadId, report } = this.options
    return isTrue('takes', () => takes(request), threadId, report)
  }

  private makeReplies(): Replies {
    const { inbox, threadId, several, report } = this.options
    const mayAnswer = (author: string, request: InboxRequest): boolean =>
      isTrue('mayAnswer', () => this.options.mayAnswer(author, request), threadId, report)
    const requestOf = (prompt: OpenPrompt): Promise<InboxRequest | undefined> => this.requestOf(prompt)
    return new Replies({ inbox, threadId, several, mayAnswer, requestOf, prompts: this.prompts })
  }
}

function delayAfter(failures: number): number {
  return RETRIES_MS[Math.min(failures, RETRIES_MS.length) - 1] ?? 0
}

function isClosed(error: unknown): boolean {
  return InboxError.isInstance(error) && error.code === 'STORE_CLOSED'
}

function notShown(
  reason: 'no-capable-client' | 'unsupported-question',
  advice: string,
): UserQuestionError<'ASK_UNAVAILABLE'> {
  return new UserQuestionError('ASK_UNAVAILABLE', { reason, advice })
}
