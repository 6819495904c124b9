import { isSettled, type Inbox } from '@handraise/inbox'
import { noticeOf, type Notice } from './notice.ts'

/**
 * Tells of each request that opens from now on, once, whichever process opened it; what is pending already, or settled
 * by the time it is heard of, is not told. What `tell` throws goes to the `report` of the inbox. Returns what ends it.
 */
export function followOpenings(
  inbox: Inbox,
  tell: (notice: Notice) => void,
  { text }: { readonly text?: boolean | undefined } = {},
): Promise<() => void> {
  return inbox.follow({
    entry({ change, request }) {
      if (change !== 'opened' || isSettled(request)) return
      const { deadlineAt: deadline, payload } = request
      const questions = inbox.kindOf(request)?.asQuestions(payload) ?? []
      tell(noticeOf({ ...request, questions, deadline }, { text }))
    },
    // It goes on from the end of the log. What opened in between did so long ago, and is no news.
    lost() {},
  })
}
