const BRAND = Symbol.for('handraise.WireConnectionError')

export interface WireConnectionErrorOptions extends ErrorOptions {
  readonly commandId?: string | undefined
}

/** There is no connection any more, or there was none. It carries no code of the protocol: the host did not say this. */
export class WireConnectionError extends Error {
  override readonly name = 'WireConnectionError'
  /**
   * Of the command that was not answered. Whether it was done is not known; sent again under this id, to the same host, it
   * is done once.
   */
  readonly commandId: string | undefined

  constructor(message: string, { commandId, ...options }: WireConnectionErrorOptions = {}) {
    super(message, options)
    this.commandId = commandId
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. */
  static isInstance(value: unknown): value is WireConnectionError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}
