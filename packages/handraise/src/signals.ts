import { EXIT } from './exit-code.ts'
import { writeLine } from './json-line.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

type Handler = (signal: NodeJS.Signals) => void

// Until somebody was asked there is nothing to dismiss and nothing to keep.
const stopEarly: Handler = signal => {
  writeLine(process.stderr, { code: 'SIGNALLED', message: `stopped by ${signal} before anybody was asked` })
  process.exit(signal === 'SIGINT' ? EXIT.signalled : EXIT.interrupted)
}

let current: Handler = stopEarly

/** Resolves when a signal says to stop. */
export function untilStopped(): Promise<void> {
  return new Promise(stop => {
    handleSignals(() => stop())
  })
}

/** Lets `handler` decide what a signal means, until the returned function is called. */
export function handleSignals(handler: Handler = stopEarly): () => void {
  const before = current
  current = handler
  for (const signal of SIGNALS)
    if (process.listenerCount(signal) === 0) process.on(signal, received => current(received))
  return () => {
    current = before
  }
}
