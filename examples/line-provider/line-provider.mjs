import { createInterface } from 'node:readline/promises'
import { readReply, visibleText } from '@handraise/user-questions/types'

/** Asks over a pair of streams, a line at a time, one request after the other. */
export function lineProvider(input, output) {
  const lines = createInterface({ input })
  let turn = Promise.resolve()

  async function askOne(question, signal, answers) {
    output.write(`${visibleText(question.question)}\n`)
    question.options?.forEach(({ label }, index) => output.write(`  ${index + 1}. ${visibleText(label)}\n`))
    for (;;) {
      const { answer, end, say } = readReply(question, await lines.question('', { signal }), answers)
      if (answer) return answer
      if (end) throw end
      output.write(`  ${say}\n`)
    }
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
