import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { z } from 'zod'

const messageSchema = z.object({ token: z.string(), text: z.string() })

/** The incoming webhook at `url`: posts a text in its channel. What the chat has not taken in 10 seconds is rejected. */
export function incomingWebhook(url) {
  return async (text, signal) => {
    const ends = [AbortSignal.timeout(10_000), ...(signal ? [signal] : [])]
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ text })
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.any(ends) })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`the chat says ${response.status}`)
  }
}

/**
 * Where the outgoing webhook calls, on this machine only. `take` is handed each message that came with the `token`,
 * and what it gives is said in the channel.
 */
export async function outgoingWebhook({ token, take, port = 0 }) {
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    serve(request, response).catch(() => response.destroy())
  })

  async function serve(request, response) {
    const body = await read(request)
    if (body === undefined) return response.writeHead(413).end()
    const message = parse(body)
    if (message === undefined) return response.writeHead(400).end()
    if (!same(message.token, token)) return response.writeHead(403).end()
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ text: take(message.text) }))
  }

  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** The body, or nothing of one that is too long; that is read to its end, so that the caller is not cut off, but not kept. */
async function read(request, limit = 65_536) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= limit) chunks.push(chunk)
  }
  return size <= limit ? Buffer.concat(chunks).toString() : undefined
}

function parse(body) {
  try {
    return messageSchema.parse(JSON.parse(body))
  } catch {
    return undefined
  }
}

/** In a time that tells nothing of `secret`. */
function same(given, secret) {
  const [a, b] = [given, secret].map(text => createHash('sha256').update(text).digest())
  return timingSafeEqual(a, b)
}
