import { PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import { providerSuite, remotePerson, typedLine } from '@handraise/user-questions/testing'
import { lineProvider } from './line-provider.mjs'

// The person reads what is printed, and types a line for each question.
const harness = {
  open(person) {
    const input = new PassThrough()
    const { before, actAt } = remotePerson(person)
    const toShow = []
    const output = new Writable({
      write(text, _encoding, done) {
        done()
        if (String(text).startsWith('  ')) return
        const [id, question] = toShow.shift()
        const line = typedLine(question, actAt(id, question.id))
        if (line !== undefined) setImmediate(() => input.write(`${line}\n`))
      },
    })
    const { ask, close } = lineProvider(input, output)
    const noting = request => {
      toShow.push(...request.questions.map(question => [request.id, question]))
      return ask(request)
    }
    return { provider: before({ ask: noting }), close }
  },
  lacks: { textBesideLabels: 'a line is either choices or a text' },
}

for (const { name, run } of providerSuite(harness)) void test(name, run)
