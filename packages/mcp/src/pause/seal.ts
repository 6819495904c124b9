import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const PREFIX = 'hr1.'
const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16
/** What no state comes near to; the rest is not even looked at. */
const MOST_CHARACTERS = 500_000

/**
 * Seals text so that its carrier can neither read nor change it: AES-256-GCM under a key that is derived from the given one.
 * The sealed text is `hr1.` and base64url.
 */
export class Seal {
  private readonly key: Uint8Array

  /** Throws `RangeError` for a key of fewer than 32 bytes. */
  constructor(key: Uint8Array) {
    if (key.byteLength < 32) throw new RangeError(`a key has at least 32 bytes, not ${key.byteLength}`)
    this.key = new Uint8Array(hkdfSync('sha256', key, '', 'handraise: state of a paused MCP request, 1', 32))
  }

  /** Throws `RangeError` for more than 370,000 bytes of UTF-8. */
  close(text: string): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(CIPHER, this.key, iv)
    const body = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    const sealed = PREFIX + body.toString('base64url')
    if (sealed.length > MOST_CHARACTERS) throw new RangeError('the state is too large to be carried')
    return sealed
  }

  /** The text, or nothing when it was not sealed under this key, exactly so. */
  open(sealed: string): string | undefined {
    if (!sealed.startsWith(PREFIX) || sealed.length > MOST_CHARACTERS) return undefined
    const body = Buffer.from(sealed.slice(PREFIX.length), 'base64url')
    // Base64 has several spellings of the same bytes; only the one that was sent is right.
    if (PREFIX + body.toString('base64url') !== sealed) return undefined
    if (body.length < IV_BYTES + TAG_BYTES) return undefined
    const decipher = createDecipheriv(CIPHER, this.key, body.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAuthTag(body.subarray(-TAG_BYTES))
    try {
      const text = decipher.update(body.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8')
      return text + decipher.final('utf8')
    } catch {
      return undefined
    }
  }
}
