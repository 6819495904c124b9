import type { AskUserQuestionAnswer, ProviderRequest } from '@handraise/user-questions/types'
import { settle, type Ending } from './ending.ts'
import { Borrowed } from './terminal.ts'

/** One request while it has the terminal. */
export interface Session {
  /** Given back when the request ends, whatever ends it. */
  readonly borrowed: Borrowed
  /** Runs what an event calls for, unless the request has ended; what it throws ends the request. */
  readonly contained: (run: () => void) => void
  readonly end: (ending: Ending) => void
}

/**
 * Gives the terminal to one request until it has ended: by `end`, by its signal, or by anything that is thrown on the
 * way. What was borrowed is given back before the promise settles.
 */
export function holdTerminal(
  { signal }: ProviderRequest,
  start: (session: Session) => void,
  onAbort: () => void = () => {},
): Promise<AskUserQuestionAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error)
      return
    }
    const borrowed = new Borrowed()
    let open = true
    const finish = (settled: () => void): void => {
      if (!open) return
      open = false
      borrowed.giveBack()
      settled()
    }
    const contained = (run: () => void): void => {
      if (!open) return
      try {
        run()
      } catch (error) {
        finish(() => reject(error))
      }
    }
    const abort = (): void => {
      contained(onAbort)
      finish(() => reject(signal.reason as Error))
    }
    signal.addEventListener('abort', abort)
    borrowed.add(() => signal.removeEventListener('abort', abort))
    contained(() =>
      start({
        borrowed,
        contained,
        end(ending) {
          const settled = settle(ending)
          finish(() => (settled instanceof Error ? reject(settled) : resolve(settled)))
        },
      }),
    )
  })
}
