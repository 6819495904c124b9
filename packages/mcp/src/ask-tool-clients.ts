import {
  UserQuestionError,
  type AskUserQuestionAnswer,
  type ProviderRequest,
  type UserQuestionProvider,
} from '@handraise/user-questions/types'
import { notShown } from './ask-tool-result.ts'

/** Shows a request in one client. The request's signal takes it down there. */
export type ShowInClient = (request: ProviderRequest) => Promise<AskUserQuestionAnswer>

/** A request that is shown in a client, or about to be. */
export interface ClientForm {
  /** Resolves when that client does not show it any more, and nobody decided anything there. */
  readonly lost: Promise<void>
  /** A call waits for it. Returns what ends that. */
  use(): FormUse
}

/** Ends the use of a form by one call; each counts once. */
export interface FormUse {
  /** The call has returned. The form stays, for the call that comes back for its answer. */
  release(): void
  /** The call was cancelled: the form is taken down in its client, unless another call there waits for it. */
  leave(): void
}

interface Form extends ClientForm {
  readonly show: ShowInClient
  readonly ended: AbortSignal
  readonly end: () => void
  readonly lose: () => void
}

interface Shown {
  readonly request: ProviderRequest
  readonly forms: Map<unknown, Form>
  readonly resolve: (answer: AskUserQuestionAnswer) => void
  readonly reject: (error: unknown) => void
}

/**
 * The clients whose calls ask, as one provider of the inbox: each request is shown in the clients that asked for it, and in no
 * other. The first that answers is the provider's answer.
 */
export class ClientForms implements UserQuestionProvider {
  readonly name = 'mcp'
  private readonly report: (error: unknown) => void
  private readonly waiting = new Map<string, Map<unknown, Form>>()
  private readonly shown = new Map<string, Shown>()
  /** What the inbox is about to hand over. */
  private readonly expected = new Set<string>()

  constructor(report: (error: unknown) => void) {
    this.report = report
  }

  /**
   * Shows the request in a client, at once or when the inbox hands it over. `place` tells clients apart: one that shows it
   * already is left as it is, unless it is to be replaced.
   */
  show(id: string, place: unknown, show: ShowInClient, replace = false): ClientForm {
    const forms = this.shown.get(id)?.forms ?? this.waiting.get(id) ?? new Map<unknown, Form>()
    const before = forms.get(place)
    if (before !== undefined && !replace) return before
    const form = toForm(show)
    forms.set(place, form)
    const shown = this.shown.get(id)
    if (shown === undefined) this.waiting.set(id, forms)
    else this.start(shown, place, form)
    before?.end()
    return form
  }

  /** True while a client shows the request, or will once the inbox hands it over. */
  isShown(id: string): boolean {
    return this.shown.has(id) || this.expected.has(id)
  }

  /** The inbox is about to hand the request over, for the first time or again. */
  expect(id: string): void {
    this.expected.add(id)
  }

  /** Forgets what was to be shown. */
  forget(id: string): void {
    this.waiting.delete(id)
    this.expected.delete(id)
  }

  ask(request: ProviderRequest): Promise<AskUserQuestionAnswer> {
    const forms = this.waiting.get(request.id)
    this.forget(request.id)
    if (forms === undefined || forms.size === 0) return Promise.reject(notShown('no client asked for it'))
    return new Promise((resolve, reject) => {
      const shown: Shown = { request, forms, resolve, reject }
      this.shown.set(request.id, shown)
      const takenDown = (): void => this.takeDown(shown)
      request.signal.addEventListener('abort', takenDown, { once: true })
      for (const [place, form] of forms) this.start(shown, place, form)
    })
  }

  private start(shown: Shown, place: unknown, form: Form): void {
    const { request } = shown
    const signal = AbortSignal.any([request.signal, form.ended])
    form.show({ ...request, signal }).then(
      answer => this.settle(shown, () => shown.resolve(answer)),
      (error: unknown) => {
        if (isDecision(error)) return this.settle(shown, () => shown.reject(error))
        if (!signal.aborted && !isUnavailable(error)) this.report(error)
        this.lose(shown, place, form, error)
      },
    )
    // One that was ended before is as good as one that ends now; whether it is shown still is its own business.
    const left = (): void => this.lose(shown, place, form, notShown('the call was cancelled'))
    if (form.ended.aborted) left()
    else form.ended.addEventListener('abort', left, { once: true })
  }

  private takeDown(shown: Shown): void {
    const { request, forms } = shown
    if (this.shown.get(request.id) !== shown) return
    this.settle(shown, () => shown.reject(request.signal.reason))
    if (!this.expected.has(request.id)) {
      for (const form of forms.values()) form.lose()
      return
    }
    // It is handed over again, and is to find them.
    const waiting = this.waiting.get(request.id) ?? new Map<unknown, Form>()
    this.waiting.set(request.id, new Map([...forms, ...waiting]))
  }

  private lose(shown: Shown, place: unknown, form: Form, error: unknown): void {
    // Taken down, since it was decided or is not shown by this process any more.
    if (shown.request.signal.aborted) return
    form.lose()
    if (shown.forms.get(place) === form) shown.forms.delete(place)
    if (shown.forms.size > 0) return
    const unavailable = isUnavailable(error) ? error : notShown('the client could not show it', error)
    this.settle(shown, () => shown.reject(unavailable))
  }

  private settle(shown: Shown, end: () => void): void {
    if (this.shown.get(shown.request.id) === shown) this.shown.delete(shown.request.id)
    end()
  }
}

function toForm(show: ShowInClient): Form {
  const controller = new AbortController()
  let lose = (): void => {}
  const lost = new Promise<void>(resolve => (lose = resolve))
  const end = (): void =>
    controller.abort(new UserQuestionError('ASK_ABORTED', { reason: 'the call was cancelled' }))
  const users = new Set<FormUse>()
  const use = (): FormUse => {
    const user: FormUse = {
      release: () => void users.delete(user),
      leave() {
        if (users.delete(user) && users.size === 0) end()
      },
    }
    users.add(user)
    return user
  }
  return { show, lost, lose, use, end, ended: controller.signal }
}

function isDecision(error: unknown): boolean {
  return (
    UserQuestionError.isInstance(error) &&
    (error.code === 'ASK_DECLINED' ||
      error.code === 'ASK_CANCELLED' ||
      error.code === 'ASK_CLARIFIED' ||
      error.code === 'ASK_INTERRUPTED')
  )
}

function isUnavailable(error: unknown): boolean {
  return UserQuestionError.isInstance(error) && error.code === 'ASK_UNAVAILABLE'
}
