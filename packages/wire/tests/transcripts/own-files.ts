import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { formatTranscript, parseTranscript, type Transcript } from './transcript.ts'

const folder = new URL('own/', import.meta.url)

const fileOf = (name: string): URL => new URL(`${name}.ndjson`, folder)

/** The names of the transcripts that are kept. */
export function keptNames(): string[] {
  return readdirSync(folder).map(file => file.replace(/\.ndjson$/u, ''))
}

export function readOwn(name: string): Transcript {
  return parseTranscript(name, readFileSync(fileOf(name), 'utf8'))
}

export function writeOwn(transcript: Transcript): void {
  writeFileSync(fileOf(transcript.name), formatTranscript(transcript))
}
