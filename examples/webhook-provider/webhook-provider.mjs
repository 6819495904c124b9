import { randomBytes } from 'node:crypto'
import { readReply, UserQuestionError, visibleText } from '@handraise/user-questions/types'

/** Asks with `post`, which writes into a chat. `take` is told what people write, and gives what to say back. */
export function webhookProvider(post) {
  /** By the code in the message of a question, what takes the reply to it. */
  const waiting = new Map()

  async function askOne(question, answers, { signal, engaged }) {
    signal.throwIfAborted()
    const code = randomBytes(4).toString('hex')
    const done = new AbortController()
    const answering = new Promise((resolve, reject) => {
      const takeDown = () => {
        reject(signal.reason)
        post(`${code} is over, and needs no answer any more.`).catch(() => {})
      }
      signal.addEventListener('abort', takeDown, { signal: done.signal })
      waiting.set(code, line => {
        engaged()
        const { answer, end, say = 'Thank you.' } = readReply(question, line, answers)
        if (answer) resolve(answer)
        if (end) reject(end)
        return say
      })
      post(`${shown(question)}\n\nReply: answer ${code} …`, signal).catch(cause => {
        const advice = 'See whether the chat can be reached, and still has the webhook.'
        reject(new UserQuestionError('ASK_UNAVAILABLE', { reason: 'undeliverable', advice }, { cause }))
      })
    })
    return answering.finally(() => waiting.delete(code) && done.abort())
  }

  return {
    name: 'webhook',
    async ask(request) {
      const answers = []
      for (const question of request.questions) answers.push(await askOne(question, answers, request))
      return { answers }
    },
    take(text) {
      const [, code, line] = /^answer\s+(\w+)(.*)$/is.exec(text) ?? []
      const reply = waiting.get(code)
      return reply ? reply(line.trim()) : 'No question waits under that code.'
    },
  }
}

function shown({ header, question, detail, options = [] }) {
  const list = options.map(({ label, description = '' }, at) => `${at + 1}. ${label}\n${description}`.trim())
  const text = visibleText([header, question, detail, ...list].filter(Boolean).join('\n\n'))
  // Behind each a space without width, so that an agent mentions nobody, and no link hides where it leads.
  return text.replace(/[@<\]]/g, '$&\u200b')
}
