import { HttpError } from './http-error.ts'

const RETRY_SOON = { 'Retry-After': '5' }

/** What is being answered, for a server that must end before all of it is. */
export class UnderWay {
  private readonly abandoned = new Set<() => void>()

  /** Rejects before `answer` has come to something if it is abandoned meanwhile. */
  async run(method: string, answer: () => Promise<void>): Promise<void> {
    let stop = (): void => {}
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(method === 'GET' ? unread() : unknown())
    })
    this.abandoned.add(stop)
    try {
      await Promise.race([answer(), stopped])
    } finally {
      this.abandoned.delete(stop)
    }
  }

  abandon(): void {
    for (const stop of this.abandoned) stop()
  }
}

function unread(): HttpError {
  return new HttpError('STORE_CLOSED', 'this server is shutting down', {}, RETRY_SOON)
}

function unknown(): HttpError {
  const message =
    'this server was stopped while it carried this out, and it is not known whether that was done; look at the request first, or send the same again with the same key or command id, which does it once'
  return new HttpError('WRITE_UNKNOWN', message, {}, RETRY_SOON)
}
