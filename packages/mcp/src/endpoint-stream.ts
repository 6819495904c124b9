/** The response, telling once when nothing more of it is sent: read to its end, given up by its reader, or failed. */
export function whenSent(response: Response, tell: () => void): Response {
  let isTold = false
  // A reader that gives up ends the read that waits as well, which then tells of the end, too.
  const sent = (): void => {
    if (isTold) return
    isTold = true
    tell()
  }
  if (response.body === null) {
    sent()
    return response
  }
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          sent()
          controller.close()
        } catch (error) {
          sent()
          controller.error(error)
        }
      },
      async cancel(reason) {
        sent()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  const { status, headers } = response
  return new Response(body, { status, headers })
}

/** A refusal, as the official transports send one (JSON-RPC, with no id that it could answer). */
export function refuse(
  status: number,
  message: string,
  { code = -32_000, headers = {} }: { code?: number; headers?: Record<string, string> } = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}
