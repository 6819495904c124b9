import { Writable } from 'node:stream'

/** A stream that says it is a terminal, and keeps what was written. */
export class FakeTerminal extends Writable {
  isTTY = true
  written = ''
  failing = false

  override _write(chunk: Buffer | string, _encoding: string, done: (error?: Error) => void): void {
    if (this.failing) return done(new Error('write EIO'))
    this.written += chunk.toString()
    done()
  }
}
