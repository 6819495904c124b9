import { visibleLine } from '@handraise/user-questions/types'
import type { PublicRequest } from '@handraise/provider-web/client'

/** Requests that were told of by this page; more than are ever new at once. */
const MOST_TOLD = 1_000

/** Tells of a request by a notification of the browser, once, while nobody looks at the page. */
export class BrowserNotices {
  private readonly told = new Set<string>()
  private readonly shown = new Map<string, Notification>()

  /** `withText` shows the question itself; otherwise headings only: a notice is seen by whoever passes by. */
  tell(request: PublicRequest, say: (headers: string) => string, withText: boolean, open: () => void): void {
    const { id, questions = [] } = request
    if (this.told.has(id)) return
    this.told.add(id)
    const [oldest] = this.told
    if (this.told.size > MOST_TOLD && oldest !== undefined) this.told.delete(oldest)
    if (!document.hidden || !canNotify()) return
    const headers = questions.flatMap(({ header }) => (header === undefined ? [] : [visibleLine(header)]))
    const body = withText ? questions.map(({ question }) => visibleLine(question)).join('\n') : ''
    try {
      // Pages of one browser share the tag, and show it once.
      const notice = new Notification(say(headers.join(', ')), {
        body: body.slice(0, 500),
        tag: `handraise-${id}`,
      })
      this.shown.set(id, notice)
      notice.addEventListener('click', () => {
        window.focus()
        open()
        notice.close()
      })
      notice.addEventListener('close', () => this.shown.delete(id))
    } catch {
      // Some browsers have the API and refuse its use outside a service worker.
    }
  }

  /** Takes a notice down, once its request is settled. */
  take(id: string): void {
    this.shown.get(id)?.close()
    this.shown.delete(id)
  }
}

export function canNotify(): boolean {
  return 'Notification' in globalThis && Notification.permission === 'granted'
}

/** True when the person can be asked whether they want notices. */
export function mayAskToNotify(): boolean {
  return 'Notification' in globalThis && Notification.permission === 'default'
}
