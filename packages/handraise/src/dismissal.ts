import { UserQuestionError } from '@handraise/user-questions/types'
import { handleSignals } from './signals.ts'

/** Aborts when this process is told to stop: Ctrl-C dismisses the question, anything else takes the asker away. */
export function untilDismissed(): AbortSignal {
  const stop = new AbortController()
  handleSignals(signal =>
    stop.abort(
      signal === 'SIGINT'
        ? new UserQuestionError('ASK_CANCELLED', { reason: 'dismissed by the user' })
        : new Error(`stopped by ${signal}`),
    ),
  )
  return stop.signal
}
