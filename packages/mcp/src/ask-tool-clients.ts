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
  /** Takes it down in that client alone. */
  end(): void
}

interface Form extends ClientForm {
  readonly show: ShowInClient
  readonly ended: AbortSignal
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

  /** True while a client shows the request. */
  isShown(id: string): boolean {
    return this.shown.has(id)
  }

  /** Forgets what was to be shown. */
  forget(id: string): void {
    this.waiting.delete(id)
  }

  ask(request: ProviderRequest): Promise<AskUserQuestionAnswer> {
    const forms = this.waiting.get(request.id)
    this.waiting.delete(request.id)
    if (forms === undefined || forms.size === 0) return Promise.reject(notShown('no client asked for it'))
    return new Promise((resolve, reject) => {
      const shown: Shown = { request, forms, resolve, reject }
      this.shown.set(request.id, shown)
      const takenDown = (): void => this.settle(shown, () => reject(request.signal.reason))
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
  return {
    show,
    lost,
    lose,
    ended: controller.signal,
    end: () => controller.abort(new UserQuestionError('ASK_ABORTED', { reason: 'the call was cancelled' })),
  }
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
