const BRAND = Symbol.for('handraise.WireProtocolError')

/** The host sent what the protocol does not allow. */
export class WireProtocolError extends Error {
  override readonly name = 'WireProtocolError'

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** True of an error of this class, whichever copy of the package made it. */
  static isInstance(value: unknown): value is WireProtocolError {
    return typeof value === 'object' && value !== null && BRAND in value
  }
}
