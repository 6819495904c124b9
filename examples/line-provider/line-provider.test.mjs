import { PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import { providerSuite } from '@handraise/user-questions/testing'
import { lineProvider } from './line-provider.mjs'

// The person reads what is printed, and types a line for each question.
const harness = {
  open(person) {
    const input = new PassThrough()
    const asked = []
    let lines = []
    const output = new Writable({
      write(text, _encoding, done) {
        done()
        if (String(text).startsWith('  ')) return
        if (lines.length === 0) lines = linesOf(asked[0], person(asked.shift()))
        const line = lines.shift()
        if (line !== undefined) setImmediate(() => input.write(`${line}\n`))
      },
    })
    const { ask, close } = lineProvider(input, output)
    return { provider: { ask: request => (asked.push(request), ask(request)) }, close }
  },
  lacks: { textBesideLabels: 'a line is either choices or a text' },
}

function linesOf({ questions }, act) {
  const lineOf = ({ id, selected, custom }) => {
    const offered = questions.find(question => question.id === id).options ?? []
    return custom ?? selected.map(label => offered.findIndex(option => option.label === label) + 1).join(', ')
  }
  if (act.act === 'answer') return act.answers.map(lineOf)
  if (act.act === 'dismiss') return [...(act.after ?? []).map(lineOf), '/dismiss']
  return act.act === 'decline' ? ['/decline'] : []
}

for (const { name, run } of providerSuite(harness)) void test(name, run)
