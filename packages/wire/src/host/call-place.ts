/** Where in a session a request belongs: the tool call that asks, with its item and its turn. */
export interface CallPlace {
  readonly turnId: string
  readonly itemId: string
  readonly callId: string
  readonly tool: string
  /** What the model sent, verbatim. */
  readonly args: string
}
