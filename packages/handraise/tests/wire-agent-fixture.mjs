// An agent that does what the text of its turn says, and prints wherever it can.

const print = text => {
  console.log(`console ${text}`)
  console.info('%s', `info ${text}`)
  process.stdout.write(`stdout ${text}\n`)
}

print('while loading')

const turns = {
  async ask(turn) {
    const questions = [
      { id: 'db', question: 'Which database?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] },
    ]
    const call = { callId: `${turn.turnId}/ask`, name: 'ask_user_question', arguments: { questions } }
    const { content } = await turn.callTool(call)
    const said = `${turn.resumed ? 'resumed' : 'unbroken'}: ${content}`
    print(said)
    await turn.say(said, { id: 'answer' })
  },
  async print(turn) {
    print('while running')
    await turn.say('printed')
  },
  async crash() {
    setImmediate(() => {
      throw new Error('nobody hears this')
    })
    await new Promise(() => {})
  },
  // Keeps the process alive, and does not stop when it is told to.
  async hang() {
    setInterval(() => {}, 1_000)
    await new Promise(() => {})
  },
}

export default ctx => {
  print(
    `while made with ${ctx.tools
      .schemas()
      .map(({ name }) => name)
      .join()}`,
  )
  return {
    model: { modelId: 'scripted' },
    run: turn => turns[turn.input[0].text](turn),
    request(method, params, signal) {
      if (method === 'model/hang')
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      if (method !== 'model/list') return undefined
      return { models: [] }
    },
  }
}
