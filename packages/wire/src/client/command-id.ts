import { v7 } from 'uuid'

/** A new command id, a UUIDv7. Kept beside the decision, it lets that be sent again after a crash. */
export function mintCommandId(): string {
  return v7()
}
