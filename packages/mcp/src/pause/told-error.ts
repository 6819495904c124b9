import { StoreError } from '@handraise/inbox'

/** What a client is told of an error: of what a store says of its database, the code and what can be done. */
export function toldError(error: unknown): unknown {
  if (!StoreError.isInstance(error)) return error
  return new StoreError(error.code, { message: `${error.code}: ${error.advice}`, cause: error })
}
