/** Shorter ones are not looked for within texts: they may be there by chance. */
const SHORTEST_WITHIN_TEXT = 8

/** Which id of the host stands for which one of the transcript: one for one, both ways. */
export class LearnedIds {
  private readonly toReal = new Map<string, string>()
  private readonly toTranscript = new Map<string, string>()

  /** What keeps the two from standing for each other; undefined when nothing does. */
  learn(transcript: string, real: string): string | undefined {
    const known = this.toReal.get(transcript)
    if (known === real) return undefined
    if (known !== undefined) return `${transcript} stood for ${known}, and is ${real} here`
    const other = this.toTranscript.get(real)
    if (other !== undefined) return `${real} is ${other} in the transcript, and not ${transcript}`
    this.toReal.set(transcript, real)
    this.toTranscript.set(real, transcript)
    return undefined
  }

  /** The host's id; what was never learned is the client's own and stays as it is. */
  realOf(transcript: string): string {
    return this.toReal.get(transcript) ?? transcript
  }

  /** A text of the host with the transcript's ids in it. */
  translate(text: string): string {
    let translated = text
    const longestFirst = [...this.toTranscript].toSorted(([one], [other]) => other.length - one.length)
    for (const [real, transcript] of longestFirst)
      if (real !== transcript && real.length >= SHORTEST_WITHIN_TEXT)
        translated = translated.replaceAll(real, transcript)
    return translated
  }
}
