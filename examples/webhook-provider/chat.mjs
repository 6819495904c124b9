import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

/** A chat of one channel with its two webhooks, where there is no real one. `onMessage` is told what is posted. */
export async function openChat(onMessage = () => {}) {
  const messages = []
  const post = ({ text }, response) => {
    messages.push(text)
    response.end('ok')
    server.emit('posted')
    onMessage(text)
  }
  const server = createServer((request, response) => {
    json(request).then(
      message => post(message, response),
      () => response.destroy(),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    webhook: `http://127.0.0.1:${server.address().port}/hooks/secret`,
    messages,
    /** The first message that was, or will be, posted and has all of `words`. */
    async message(...words) {
      for (;;) {
        const found = messages.find(message => words.every(word => message.includes(word)))
        if (found !== undefined) return found
        await once(server, 'posted')
      }
    },
    /** Somebody writes it, and the outgoing webhook calls `url`; what comes back stands in the channel as well. */
    async say(url, { text, token }) {
      messages.push(text)
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
      const response = await fetch(url, { ...init, body: JSON.stringify({ token, text, user_name: 'ada' }) })
      if (!response.ok) return response.status
      const reply = (await response.json()).text
      messages.push(reply)
      return reply
    },
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** The code that a message asks to be answered with. */
export function codeIn(message) {
  return /Reply: answer (\w+)/.exec(message)?.[1]
}
