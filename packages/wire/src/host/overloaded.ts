import { WireError } from '../protocol/index.ts'

/** A client asks for more than is worked on at once, or leaves more unread than is kept for it. */
export function overloaded(): WireError {
  return new WireError('overloaded', 'too much at once; read what was sent, and send it again in a moment')
}
