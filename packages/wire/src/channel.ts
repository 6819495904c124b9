import type { RequestId } from './protocol/index.ts'

/**
 * A frame that came: its text, or only that it was too long. Then, where it could be read, with the `id` of a request, or with
 * the id of the request that it answers.
 */
export type IncomingFrame =
  | { readonly text: string }
  | {
      readonly tooLong: true
      readonly id?: RequestId | undefined
      readonly answerTo?: RequestId | undefined
    }

/** Frames both ways, whatever carries them. */
export interface FrameChannel {
  /** Ends when the other side is gone. Read once. */
  readonly incoming: AsyncIterable<IncomingFrame>
  /** Sends one frame, without a line end. Resolves when more can be taken; rejects when the other side is gone. */
  send(frame: string): Promise<void>
  /** Ends the channel; calling it again does nothing. */
  close(): void
}

/** The longest frame either way, in bytes of UTF-8 (MSP: 10 MiB). */
export const FRAME_LIMIT_BYTES = 10 * 1024 * 1024
