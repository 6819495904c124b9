import { z } from 'zod'

/** A frame as an object; which members it has is not known here. */
export type Frame = Readonly<Record<string, unknown>>

const lineSchema = z.object({ dir: z.enum(['client', 'server']), raw: z.string() })

/** One frame of a transcript: who sent it, and its text. */
export type TranscriptLine = Readonly<z.infer<typeof lineSchema>>

export interface Transcript {
  readonly name: string
  readonly frames: readonly TranscriptLine[]
}

export function parseTranscript(name: string, text: string): Transcript {
  const lines = text.split('\n').filter(line => line !== '')
  return { name, frames: lines.map(line => lineSchema.parse(JSON.parse(line))) }
}

export function formatTranscript({ frames }: Transcript): string {
  return frames.map(line => `${JSON.stringify(line)}\n`).join('')
}

/** The frame, or undefined where the text is no JSON object: a client may send anything. */
export function readFrame(raw: string): Frame | undefined {
  try {
    const value: unknown = JSON.parse(raw)
    return isFrame(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isFrame(value: unknown): value is Frame {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
