import type { Clock } from '@handraise/user-questions/types'

/** What a terminal is read from, as much of it as is used. `process.stdin` is one. */
export type TerminalInput = NodeJS.ReadableStream & {
  readonly isTTY?: boolean | undefined
  readonly isRaw?: boolean | undefined
  readonly readableFlowing?: boolean | null | undefined
  readonly readableEnded?: boolean | undefined
  readonly destroyed?: boolean | undefined
  setRawMode?(raw: boolean): unknown
}

/** What a terminal is written to. `process.stdout` is one. */
export type TerminalOutput = NodeJS.WritableStream & {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  /** Measures the terminal anew. Only the standard streams do so by themselves. */
  _refreshSize?(): void
}

export interface Terminal {
  readonly input: TerminalInput
  readonly output: TerminalOutput
  readonly env: NodeJS.ProcessEnv
  readonly clock: Clock
  readonly armingDelayMs: number
  /** Whether the process may read from the terminal. */
  readonly foreground: () => boolean
}

// How long keys do not count after the next question came up: longer than between the strokes of a held key.
const PAUSE_MS = 150

/** The pause of a prompt on this terminal, in milliseconds. */
export function pauseOf({ armingDelayMs }: Terminal): number {
  return Math.min(PAUSE_MS, armingDelayMs)
}

const ignore = (): void => {}

// How many reasons there are for a stream to fail that nobody else may listen to.
const guarded = new WeakMap<NodeJS.EventEmitter, number>()

/**
 * A terminal may vanish at any time, and a stream whose error nobody hears ends the process. Between `guard` and
 * `unguard` somebody hears it. After an error it stays so: a terminal that is gone does not come back.
 */
function guard(stream: NodeJS.EventEmitter): void {
  const reasons = guarded.get(stream) ?? 0
  if (reasons === 0) stream.on('error', ignore)
  guarded.set(stream, reasons + 1)
}

function unguard(stream: NodeJS.EventEmitter): void {
  const reasons = (guarded.get(stream) ?? 1) - 1
  if (reasons === 0) stream.off('error', ignore)
  guarded.set(stream, reasons)
}

/** Writes. What goes wrong with it comes as an `error` of the stream, also where it is thrown, and ends nothing else. */
export function write(output: TerminalOutput, text: string): void {
  guard(output)
  try {
    // The error itself comes after this call: the guard stays for it.
    output.write(text, error => {
      // Without one it is `null` or nothing, by Node's version.
      if (!(error instanceof Error)) unguard(output)
    })
  } catch (error) {
    output.emit('error', error)
  }
}

/** The same for the line mode of the terminal. */
export function setRaw(input: TerminalInput, raw: boolean): void {
  guard(input)
  try {
    input.setRawMode?.(raw)
    unguard(input)
  } catch (error) {
    input.emit('error', error)
  }
}

/**
 * What was taken from a terminal, given back in reverse. One that cannot be given back, because the terminal is gone,
 * does not keep the others. What is taken after that is given back at once: the request may end while it still begins.
 */
export class Borrowed {
  private readonly returns: (() => void)[] = []
  private over = false

  add(giveBack: () => void): void {
    this.returns.push(giveBack)
    if (this.over) this.giveBack()
  }

  listen(emitter: NodeJS.EventEmitter, event: string, listener: (...args: never[]) => void): void {
    emitter.on(event, listener as (...args: unknown[]) => void)
    this.add(() => void emitter.off(event, listener as (...args: unknown[]) => void))
  }

  /** Reads on; pauses the input afterwards, unless it was being read before. To call before there is a listener: that alone makes it flow. */
  read(input: TerminalInput): void {
    const wasFlowing = input.readableFlowing === true
    guard(input)
    input.resume()
    this.add(() => {
      if (!wasFlowing) input.pause()
      // A read that is under way may fail after this.
      setImmediate(unguard, input)
    })
  }

  giveBack(): void {
    this.over = true
    for (let giveBack = this.returns.pop(); giveBack !== undefined; giveBack = this.returns.pop()) {
      try {
        giveBack()
      } catch {
        // The terminal went away: there is nothing left to restore on it.
      }
    }
  }
}
