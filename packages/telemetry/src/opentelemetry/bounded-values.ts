/** What stands for every value that is one too many. */
const OTHER = 'other'

/**
 * The values of one attribute of a metric, and no more than `most` of them: each one that was never seen costs whoever
 * keeps the metrics another series.
 */
export class BoundedValues {
  private readonly seen = new Set<string>()
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  of(value: string): string {
    if (this.seen.has(value)) return value
    if (this.seen.size >= this.most || value.length > 64) return OTHER
    this.seen.add(value)
    return value
  }
}
