import type { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { FrameChannel } from './channel.ts'
import { ndjsonChannel, type DuplexTransport, type NdjsonOptions } from './ndjson.ts'

/**
 * Frames as lines over two byte streams, such as the standard streams of a process. Both then belong to the channel: it reads
 * `input` until it ends or fails, and closing the channel ends `output`, once what was written is flushed, and destroys `input`.
 *
 * `send` waits for a full `output` to drain, and rejects when it failed or was closed; such a failure reaches nobody else.
 */
export function stdioChannel(input: Readable, output: Writable, options?: NdjsonOptions): FrameChannel {
  return ndjsonChannel(new StreamTransport(input, output), options)
}

class StreamTransport implements DuplexTransport {
  readonly incoming: AsyncIterable<string>
  private readonly input: Readable
  private readonly output: Writable
  private failure: unknown
  private ended = false
  private wakeReader = (): void => {}
  private wakeWriter = (): void => {}

  constructor(input: Readable, output: Writable) {
    this.input = input
    this.output = output
    this.ended = input.readableEnded || input.destroyed
    this.incoming = this.read()
    input.on('readable', this.onReadable)
    input.on('end', this.onEnd)
    input.on('error', this.onEnd)
    input.on('close', this.onInputClose)
    output.on('drain', this.onDrain)
    output.on('error', this.onFailure)
    output.on('finish', this.onOutputGone)
    output.on('close', this.onOutputGone)
  }

  async write(chunk: string): Promise<void> {
    this.throwIfGone()
    if (this.output.write(chunk)) return
    await new Promise<void>(resolve => {
      this.wakeWriter = resolve
    })
    this.throwIfGone()
  }

  close(): void {
    this.onEnd()
    // A stream that goes both ways must not lose what it was given to send.
    const isDuplex = (this.output as unknown) === this.input
    this.output.end(isDuplex ? () => this.input.destroy() : undefined)
    if (!isDuplex) this.input.destroy()
    if (this.input.closed) this.onInputClose()
    if (this.output.closed || this.output.writableFinished) this.onOutputGone()
  }

  private async *read(): AsyncGenerator<string, void> {
    const decoder = new StringDecoder('utf8')
    for (;;) {
      const chunk: unknown = this.input.read()
      if (chunk !== null) {
        yield typeof chunk === 'string' ? chunk : decoder.write(chunk as Buffer)
        continue
      }
      if (this.ended) break
      await new Promise<void>(resolve => {
        this.wakeReader = resolve
      })
    }
    const rest = decoder.end()
    if (rest !== '') yield rest
  }

  private throwIfGone(): void {
    if (this.failure !== undefined) throw this.failure
    if (!this.output.writable) throw new Error('the output is closed')
  }

  private readonly onReadable = (): void => this.wakeReader()

  private readonly onEnd = (): void => {
    this.ended = true
    this.input.off('readable', this.onReadable)
    this.input.off('end', this.onEnd)
    this.wakeReader()
  }

  // Until then it may still fail, and with nobody listening that would end the process.
  private readonly onInputClose = (): void => {
    this.onEnd()
    this.input.off('error', this.onEnd)
    this.input.off('close', this.onInputClose)
  }

  private readonly onDrain = (): void => this.wakeWriter()

  private readonly onFailure = (error: unknown): void => {
    this.failure ??= error
    this.wakeWriter()
  }

  // As with the input: what was written may fail until it is flushed.
  private readonly onOutputGone = (): void => {
    this.output.off('drain', this.onDrain)
    this.output.off('error', this.onFailure)
    this.output.off('finish', this.onOutputGone)
    this.output.off('close', this.onOutputGone)
    this.wakeWriter()
  }
}
