import { EXIT } from './exit-code.ts'
import { writeLine } from './json-line.ts'

/** How long what is written last may take, in milliseconds. */
const LONGEST_MS = 1_000

/** How long a host that was told to stop may take, in milliseconds. */
const STOP_WITHIN_MS = 5_000

/**
 * Ends the process five seconds from now, with a line that says so and an exit of 1, whatever holds it up, unless what is
 * returned is called before.
 */
export function endInTime(): () => void {
  const timer = setTimeout(() => {
    const message = `it could not be stopped in order within ${STOP_WITHIN_MS / 1_000} seconds; what is kept stays as it is`
    writeLine(process.stderr, { code: 'INTERNAL', message })
    process.exit(EXIT.internal)
  }, STOP_WITHIN_MS).unref()
  return () => clearTimeout(timer)
}

/** Ends the process before long, whatever an agent has left open in it. One that ends by itself is not held up. */
export function endSoon(): void {
  setTimeout(() => process.exit(), LONGEST_MS).unref()
}

/** The same once all is written to standard output, for who reads what is said beside the answer may have stopped reading. */
export function endOnceAnswered(): void {
  process.stdout.write('', () => endSoon())
}
