import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server'

/** The same code, message and data as the official server's own check of a state gives. */
export class RefusedState extends ProtocolError {
  /** What is wrong with it: for the host, not for whoever sent it. */
  readonly why: string

  constructor(why: string) {
    super(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    })
    this.why = why
  }
}

/**
 * A result that makes the official server answer with the error. What a tool throws it turns into a result that says so, which
 * is right for what went wrong in a tool; a refused state is a fault of the request. It reads the requests of such a result
 * itself, after the tool.
 */
export function resultThatThrows(error: ProtocolError): CallToolResult {
  const result = {
    resultType: 'input_required',
    get inputRequests(): never {
      throw error
    },
  }
  return result as unknown as CallToolResult
}
