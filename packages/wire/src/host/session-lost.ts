/** The session is held by another host by now. */
export class SessionLost extends Error {
  override readonly name = 'SessionLost'

  constructor(sessionId: string) {
    super(`another host has taken over the session ${JSON.stringify(sessionId)}`)
  }
}
