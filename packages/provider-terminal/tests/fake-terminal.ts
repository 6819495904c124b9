import { Readable, Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import type { Clock } from '@handraise/user-questions'

/** An input that says it is a terminal, and is pressed by a test. */
export class FakeInput extends Readable {
  isTTY = true
  isRaw = false
  readonly rawModes: boolean[] = []

  override _read(): void {}

  setRawMode(raw: boolean): this {
    this.isRaw = raw
    this.rawModes.push(raw)
    return this
  }
}

/** An output that says it is a terminal, and keeps what was written. */
export class FakeOutput extends Writable {
  isTTY = true
  columns: number
  rows: number
  readonly writes: string[] = []
  onWrite: ((text: string) => void) | undefined

  constructor(columns = 80, rows = 24) {
    super({ decodeStrings: false })
    this.columns = columns
    this.rows = rows
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    const text = chunk.toString()
    this.writes.push(text)
    this.onWrite?.(text)
    done()
  }

  get text(): string {
    return this.writes.join('')
  }

  /** What was drawn last, without cursor codes; drawn modes draw the whole prompt each time. */
  get screen(): string {
    return stripVTControlCharacters(this.writes.at(-1) ?? '').replaceAll('\r', '')
  }

  resize(columns: number, rows: number): void {
    this.columns = columns
    this.rows = rows
    this.emit('resize')
  }
}

/** Time that passes when the test says so. */
export class FakeClock implements Clock {
  private time: number
  private timers: { at: number; run: () => void }[] = []

  constructor(start = 1_000_000) {
    this.time = start
  }

  now(): number {
    return this.time
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.time + delayMs, run }
    this.timers.push(timer)
    return () => {
      this.timers = this.timers.filter(each => each !== timer)
    }
  }

  advance(ms: number): void {
    const end = this.time + ms
    for (;;) {
      const next = this.timers.toSorted((a, b) => a.at - b.at)[0]
      if (next === undefined || next.at > end) break
      this.timers = this.timers.filter(each => each !== next)
      this.time = next.at
      next.run()
    }
    this.time = end
  }

  get pending(): number {
    return this.timers.length
  }
}
