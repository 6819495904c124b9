import { VIEW_PAGE_LIMIT, type ViewGapParams } from '../protocol/index.ts'
import { readEvent, type WireEvent } from './event.ts'
import { WireProtocolError } from './protocol-error.ts'
import type { RequestOptions, WireClient } from './wire-client.ts'

/** The events of a gap. */
export interface GapPages {
  /** Gives each event on, once, up to and with `next`. After a failure it goes on where it was. */
  read(each: (event: WireEvent) => void): Promise<void>
}

/**
 * Pages through a gap. Cursors are only ever compared for equality. An event that is against the protocol is reported and left
 * out; a page that leads nowhere is a WireProtocolError.
 */
export function pageThrough(
  client: WireClient,
  { sessionId, after, next }: ViewGapParams,
  options: RequestOptions,
): GapPages {
  let cursor = after
  return {
    async read(each) {
      for (;;) {
        const { events, nextCursor } = await client.request(
          'view/page',
          { sessionId, cursor, limit: VIEW_PAGE_LIMIT, direction: 'forward' },
          options,
        )
        for (const { method, params } of events) {
          const event = tryRead(client, method, params)
          if (event !== undefined) each(event)
          if (params.viewCursor === next) return
        }
        if (nextCursor === null) return
        if (nextCursor === cursor)
          throw new WireProtocolError('a page of the view ends where the one before it did')
        cursor = nextCursor
      }
    },
  }
}

function tryRead(
  client: WireClient,
  method: string,
  params: Readonly<Record<string, unknown>>,
): WireEvent | undefined {
  try {
    return readEvent(method, params)
  } catch (error) {
    client.report(error)
    return undefined
  }
}
