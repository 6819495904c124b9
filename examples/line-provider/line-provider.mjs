import { createInterface } from 'node:readline/promises'
import { readTextReply, UserQuestionError, visibleText } from '@handraise/user-questions/types'

/** Asks over a pair of streams, a line at a time, one request after the other. `/dismiss` and `/decline` end it. */
export function lineProvider(input, output) {
  const lines = createInterface({ input })
  let turn = Promise.resolve()

  async function askOne(question, signal, answers) {
    output.write(`${visibleText(question.question)}\n`)
    question.options?.forEach(({ label }, index) => output.write(`  ${index + 1}. ${visibleText(label)}\n`))
    const reply = readTextReply(question, await lines.question('', { signal }))
    if (reply.kind === 'blank') return { id: question.id, selected: [] }
    if (reply.kind === 'answer') return { id: question.id, ...reply.value }
    if (reply.name === 'decline') throw new UserQuestionError('ASK_DECLINED')
    throw new UserQuestionError('ASK_CANCELLED', { answers })
  }

  async function askAll({ questions, signal }) {
    const answers = []
    for (const question of questions) answers.push(await askOne(question, signal, answers))
    return { answers }
  }

  return {
    name: 'line',
    ask(request) {
      const answering = turn.then(() => {
        request.signal.throwIfAborted()
        return askAll(request)
      })
      turn = answering.catch(() => {})
      return answering
    },
    close: () => lines.close(),
  }
}
