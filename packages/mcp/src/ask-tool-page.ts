import type { AskToolOptions } from './ask-tool-options.ts'

interface Place {
  readonly page: Promise<string | undefined>
  /** What has told it. */
  readonly told: Set<'result' | 'progress'>
}

/** Says where people answer in the inbox: once for each request in a result, and once in a notice of progress. */
export class PageNotice {
  private readonly page: AskToolOptions['page']
  private readonly report: (error: unknown) => void
  private readonly places = new Map<string, Place>()

  constructor(page: AskToolOptions['page'], report: (error: unknown) => void) {
    this.page = page
    this.report = report
  }

  /** The request is to be answered there: resolves with where that is, if there is such a place. Never rejects. */
  async find(id: string): Promise<string | undefined> {
    const place = this.places.get(id) ?? { page: this.look(), told: new Set() }
    this.places.set(id, place)
    return await place.page
  }

  /** The address, for what tells it; nothing when it was told so before. */
  tell(id: string, page: string | undefined, by: 'result' | 'progress'): string | undefined {
    const told = this.places.get(id)?.told
    if (page === undefined || told === undefined || told.has(by)) return undefined
    told.add(by)
    return page
  }

  /** The request is settled. */
  forget(id: string): void {
    this.places.delete(id)
  }

  private async look(): Promise<string | undefined> {
    try {
      return await this.page?.()
    } catch (error) {
      this.report(error)
      return undefined
    }
  }
}
