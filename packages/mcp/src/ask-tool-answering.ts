import { isSettled, questionsKind, type InboxRequest } from '@handraise/inbox'
import { UserQuestionError, type Clock, type Question } from '@handraise/user-questions/types'
import { SdkError, SdkErrorCode, type CallToolResult, type McpServer } from '@modelcontextprotocol/server'
import type { Caller } from './ask-tool-caller.ts'
import type { ClientForm, ClientForms, ShowInClient } from './ask-tool-clients.ts'
import { pauseForForm, readReturn, type PausedAsk } from './ask-tool-form.ts'
import type { AskToolSettings } from './ask-tool-options.ts'
import type { PageNotice } from './ask-tool-page.ts'
import type { AskedRequests } from './ask-tool-requests.ts'
import { Haste } from './ask-tool-haste.ts'
import { failedResult, notShown, settledResult, waitingResult } from './ask-tool-result.ts'
import { formAsksForSecret } from './form-secret.ts'
import { waitWithin } from './long-wait.ts'
import type { PauseContext } from './pause/handlers.ts'
import type { InputRequired } from './pause/input-required.ts'
import { elicitationProvider } from './provider.ts'

export interface AnsweringDeps {
  readonly requests: AskedRequests
  readonly forms: ClientForms
  readonly page: PageNotice
  readonly settings: AskToolSettings
  readonly clock: Clock
  /** Aborts when calls are to return at once. */
  readonly hurry: AbortSignal
  readonly report: (error: unknown) => void
}

/** A pending request, and the call that is about it. */
export interface PendingCall {
  readonly request: InboxRequest
  readonly caller: Caller
  readonly server: McpServer
  readonly ctx: PauseContext
  /** Its caller has what finds the request again: its id, or an id of the call. */
  readonly told: boolean
  /** The pause that the call goes on with. */
  readonly paused: PausedAsk | undefined
  /** Ends that the call counts as one that waits for the request; the wait itself does so then. */
  readonly leave: () => void
}

/** Where a client of 2026-07-28 holds a form: it comes back with another request, over whatever connection. */
const CARRIED = 'carried'

/** How a pending request comes to its answer within one call, or with the call that follows. */
export class Answering {
  private readonly deps: AnsweringDeps
  private readonly haste: Haste
  /** The requests that a connection's client has replied to by itself. */
  private readonly repliedByItself = new WeakMap<object, Set<string>>()

  constructor(deps: AnsweringDeps) {
    this.deps = deps
    this.haste = new Haste(deps.clock, deps.settings.autoDeclineMs)
  }

  async answer(call: PendingCall): Promise<CallToolResult | InputRequired> {
    const { caller, paused, request } = call
    if (paused !== undefined) return await this.goOn(call, paused)
    if (!this.asksInClient(caller) || formAsksForSecret(questionsOf(request)))
      return await this.wait(call, undefined)
    if (caller.modern) return (await this.pause(call)) ?? (await this.wait(call, undefined))
    return await this.wait(call, this.showIn(call))
  }

  /** Waits for a request whose pause ended without an answer that counts: it is answered where people answer the inbox. */
  async takeUp(call: PendingCall): Promise<CallToolResult> {
    await this.cameBack(call)
    return await this.wait(call, undefined)
  }

  close(): void {
    this.haste.close()
  }

  /** True when the client takes the form with it and comes back, so that a request has not to be told by its id. */
  carries(caller: Caller, questions: readonly Question[]): boolean {
    return (
      caller.modern &&
      this.asksInClient(caller) &&
      pauseForForm({ questions, paused: NO_PAUSE, empty: false }) !== undefined
    )
  }

  private asksInClient({ showsForms }: Caller): boolean {
    return showsForms && this.deps.settings.answerIn !== 'inbox'
  }

  private async pause({ request, caller, told }: PendingCall): Promise<InputRequired | undefined> {
    const { settings, page } = this.deps
    const where =
      settings.answerIn === 'both' ? page.tell(request.id, await page.find(request.id), 'result') : undefined
    const notice = where === undefined ? undefined : `You can answer on the page ${where} too.`
    const pause = pauseForForm({
      questions: questionsOf(request),
      paused: { ...NO_PAUSE, request: request.id, told, ...this.haste.send() },
      empty: caller.fillsIn,
      notice,
    })
    if (pause !== undefined) this.show(request, CARRIED, untilTakenDown)
    return pause
  }

  /** Takes what came back with a pause for what the person decided, and asks again when it is no answer. */
  private async goOn(call: PendingCall, paused: PausedAsk): Promise<CallToolResult | InputRequired> {
    const { request, caller, ctx } = call
    const { settings } = this.deps
    const questions = questionsOf(request)
    const back = readReturn({
      questions,
      paused,
      responses: ctx.inputResponses,
      isTooFast: this.haste.isTooFast(paused),
      neverDeclines: settings.neverDeclines.includes(caller.clientName),
    })
    if (back.kind === 'again') {
      const { notice, kept } = back
      const next = { ...paused, round: paused.round + 1, kept, ...this.haste.send() }
      const pause = pauseForForm({ questions, paused: next, empty: caller.fillsIn, notice })
      if (pause !== undefined) {
        this.show(request, CARRIED, untilTakenDown)
        return pause
      }
    }
    const reply: ShowInClient = async () => {
      if (back.kind === 'answered') return back.answer
      throw back.kind === 'ended' ? back.error : new Error('a form could be shown once, and not again')
    }
    const isDecided =
      back.kind === 'answered' || (back.kind === 'ended' && back.error.code !== 'ASK_UNAVAILABLE')
    if (!isDecided) await this.cameBack(call)
    const form = this.show(request, CARRIED, reply, true)
    // What decides is kept first: a host that is killed in between leaves a question, and withdraws none that was answered.
    if (isDecided) form.lost.then(() => this.cameBackInVain(call)).catch(this.deps.report)
    return await this.wait(call, form)
  }

  /** The client has no form any more that it could come back with: while the call waits, it is all that knows the request. */
  private async cameBack({ request, told }: PendingCall): Promise<void> {
    const { requests, report } = this.deps
    if (!told) await requests.untell(request.id).catch(report)
  }

  private async cameBackInVain(call: PendingCall): Promise<void> {
    if (await this.deps.requests.isPending(call.request.id)) await this.cameBack(call)
  }

  /** Shows it by a form that the server sends while the call waits, and that may stay when the call has returned. */
  private showIn({ request, server, ctx }: PendingCall): ClientForm | undefined {
    const connection = server.server
    const { autoDeclineMs, neverDeclines } = this.deps.settings
    const replied = this.repliedByItself.get(connection) ?? new Set<string>()
    this.repliedByItself.set(connection, replied)
    if (replied.has(request.id)) return undefined
    const { clock } = this.deps
    const options = { relatedRequestId: ctx.mcpReq.id, autoDeclineMs, neverDeclines, clock }
    // What comes too fast was shown to nobody, a cancel as well: here the question has another place to wait in.
    const provider = elicitationProvider(server, options, () => true)
    return this.show(request, connection, async shown => {
      try {
        return await provider.ask(shown)
      } catch (error) {
        if (UserQuestionError.isInstance(error) && error.code === 'ASK_UNAVAILABLE') replied.add(request.id)
        const isGone = error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed
        throw isGone ? notShown('the client is gone', error) : error
      }
    })
  }

  private show(request: InboxRequest, place: unknown, show: ShowInClient, replace = false): ClientForm {
    const { forms, requests } = this.deps
    const form = forms.show(request.id, place, show, replace)
    void requests.hold(request, !forms.isShown(request.id))
    return form
  }

  private async wait(
    { request, caller, leave: leaveCall }: PendingCall,
    form: ClientForm | undefined,
  ): Promise<CallToolResult> {
    const { id } = request
    const leave = this.deps.requests.join(id)
    leaveCall()
    const { requests, settings, clock, hurry, report, page } = this.deps
    let where: string | undefined
    let waits = true
    let told = 0
    const tell = (place?: string): void => caller.progress((told += 1), progressMessage(told, place))
    const toInbox = async (): Promise<void> => {
      if (!waits) return
      where = await page.find(id)
      const place = waits ? page.tell(id, where, 'progress') : undefined
      if (place !== undefined) tell(place)
    }
    const lost = async (): Promise<void> => {
      // One that is settled takes its form down as well, and needs no page.
      if (await requests.isPending(id)) await toInbox()
    }
    const use = form?.use()
    const failed = requests.hold(request, false)
    if (form === undefined || settings.answerIn === 'both') void toInbox()
    else form.lost.then(lost).catch(report)
    const waited = await waitWithin({
      wait: signal => requests.wait(id, signal),
      failed,
      left: caller.left,
      hurry,
      limitMs: settings.callLimitMs,
      everyMs: settings.progressEveryMs,
      clock,
      tell,
    })
    waits = false
    leave()
    if (waited.kind === 'left') use?.leave()
    else use?.release()
    switch (waited.kind) {
      case 'settled':
        page.forget(id)
        await requests.told(id).catch(report)
        return await settledResult(waited.request)
      case 'failed':
        page.forget(id)
        return await failedResult(id, waited.error)
      case 'left':
        await requests.left(id).catch(report)
        return await this.standing(request)
      case 'waiting':
        await requests.told(id).catch(report)
        return await this.stillWaiting(request, caller, where)
    }
  }

  /** The result of a call that nobody waits for, and of the same one when it is sent again. */
  private async standing({ id }: InboxRequest): Promise<CallToolResult> {
    const now = await this.deps.requests.now(id)
    return now !== undefined && isSettled(now) ? await settledResult(now) : waitingResult(id)
  }

  private async stillWaiting(
    request: InboxRequest,
    caller: Caller,
    found: string | undefined,
  ): Promise<CallToolResult> {
    const { id } = request
    const { page, hurry } = this.deps
    // Whoever served it may have ended meanwhile; a host that ends looks for none.
    const where = found === undefined || hurry.aborted ? found : await page.find(id)
    const isSecret = this.asksInClient(caller) && formAsksForSecret(questionsOf(request))
    return waitingResult(id, { page: page.tell(id, where, 'result'), isSecret })
  }
}

const NO_PAUSE: PausedAsk = { request: '', told: false, sentAt: 0, round: 1, kept: [] }

function questionsOf({ payload }: InboxRequest): readonly Question[] {
  return questionsKind.asQuestions(payload)
}

// The client has it, and comes back by another request.
const untilTakenDown: ShowInClient = ({ signal }) =>
  new Promise((_, reject) => {
    const takenDown = (): void => reject(signal.reason as Error)
    if (signal.aborted) takenDown()
    else signal.addEventListener('abort', takenDown, { once: true })
  })

function progressMessage(count: number, page: string | undefined): string {
  const waits = count === 1 ? 'Waiting for the user to answer.' : 'Still waiting for the user to answer.'
  return page === undefined ? waits : `${waits} They can answer on the page ${page} too.`
}
