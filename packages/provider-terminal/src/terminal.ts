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
}

/**
 * What was taken from a terminal, given back in reverse. One that cannot be given back, because the terminal is gone,
 * does not keep the others.
 */
export class Borrowed {
  private readonly returns: (() => void)[] = []

  add(giveBack: () => void): void {
    this.returns.push(giveBack)
  }

  listen(emitter: NodeJS.EventEmitter, event: string, listener: (...args: never[]) => void): void {
    emitter.on(event, listener as (...args: unknown[]) => void)
    this.add(() => void emitter.off(event, listener as (...args: unknown[]) => void))
  }

  /** Reads on; pauses the input afterwards, unless it was being read before. To call before there is a listener: that alone makes it flow. */
  read(input: TerminalInput): void {
    const wasFlowing = input.readableFlowing === true
    input.resume()
    this.add(() => void (wasFlowing || input.pause()))
  }

  giveBack(): void {
    for (let giveBack = this.returns.pop(); giveBack !== undefined; giveBack = this.returns.pop()) {
      try {
        giveBack()
      } catch {
        // The terminal went away: there is nothing left to restore on it.
      }
    }
  }
}
