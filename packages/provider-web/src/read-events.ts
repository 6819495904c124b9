/** One server-sent event. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
  /** The id last sent: what to resume from, empty when there is nothing to. */
  readonly lastId: string
}

/**
 * Reads server-sent events from the body of a response, as they come, until the signal aborts. `alive` is called whenever
 * anything comes.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  lastId: string,
  alive: () => void = () => {},
  signal?: AbortSignal,
): AsyncGenerator<ServerEvent, void, void> {
  const reader = body.getReader()
  // Besides aborting the request: Node forgets the signal of a request whose response it has begun to give.
  const cancel = (): void => void reader.cancel().catch(() => {})
  signal?.addEventListener('abort', cancel)
  const decoder = new TextDecoder()
  let rest = ''
  let event = 'message'
  let data: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      alive()
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const raw of lines) {
        const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
        if (line === '') {
          if (data.length > 0) yield { event, data: data.join('\n'), lastId }
          event = 'message'
          data = []
          continue
        }
        const [, field, text = ''] = /^([^:]*):? ?([^]*)$/u.exec(line) ?? []
        if (field === 'event') event = text
        else if (field === 'data') data.push(text)
        else if (field === 'id') lastId = text
      }
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    cancel()
  }
}
