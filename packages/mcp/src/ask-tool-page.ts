import type { AskToolOptions } from './ask-tool-options.ts'

interface Place {
  /** Where it was found last. */
  found: string | undefined
  looking: Promise<string | undefined> | undefined
  /** What has told which address. */
  readonly told: Map<'result' | 'progress', string>
}

/**
 * Says where people answer in the inbox: once for each request in a result, and once in a notice of progress, and again when it
 * is another place by then, since whoever served the page may have ended.
 */
export class PageNotice {
  private readonly page: AskToolOptions['page']
  private readonly report: (error: unknown) => void
  private readonly places = new Map<string, Place>()

  constructor(page: AskToolOptions['page'], report: (error: unknown) => void) {
    this.page = page
    this.report = report
  }

  /** The request is to be answered there: resolves with where that is now, if there is such a place. Never rejects. */
  async find(id: string): Promise<string | undefined> {
    const place: Place = this.places.get(id) ?? { found: undefined, looking: undefined, told: new Map() }
    this.places.set(id, place)
    // Two calls for one request need one look, and one browser.
    place.looking ??= this.look(place).finally(() => (place.looking = undefined))
    return await place.looking
  }

  /** The address, for what tells it; nothing when it was told so before. */
  tell(id: string, page: string | undefined, by: 'result' | 'progress'): string | undefined {
    const told = this.places.get(id)?.told
    if (page === undefined || told === undefined || told.get(by) === page) return undefined
    told.set(by, page)
    return page
  }

  /** The request is settled. */
  forget(id: string): void {
    this.places.delete(id)
  }

  private async look(place: Place): Promise<string | undefined> {
    try {
      const page = await this.page?.(place.found)
      place.found = page ?? place.found
      return page
    } catch (error) {
      this.report(error)
      return undefined
    }
  }
}
