/** What a bell is rung on. `process.stderr` is one. */
export type BellStream = NodeJS.WritableStream & { readonly isTTY?: boolean | undefined }

const BEL = '\u0007'
/** How long after it rang the bell stays silent, in milliseconds. */
const TOGETHER_MS = 200

const ignore = (): void => {}

/** Rings the terminal: one BEL, at most once in 200 ms. On a stream that is no terminal nothing is written. */
export function bellOn(stream: BellStream): () => void {
  let rangAt = -Infinity
  return () => {
    const now = performance.now()
    if (stream.isTTY !== true || now - rangAt < TOGETHER_MS) return
    rangAt = now
    // A terminal may vanish, and an error that nobody hears ends the process. It comes after this call, so the listener
    // stays until what was written has arrived.
    stream.on('error', ignore)
    stream.write(BEL, error => {
      if (!(error instanceof Error)) stream.off('error', ignore)
    })
  }
}
