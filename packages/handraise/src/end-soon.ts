/** How long what is written last may take, in milliseconds. */
const LONGEST_MS = 1_000

/** Ends the process before long, whatever an agent has left open in it. One that ends by itself is not held up. */
export function endSoon(): void {
  setTimeout(() => process.exit(), LONGEST_MS).unref()
}
