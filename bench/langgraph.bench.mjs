// Durable ask, answer, settle: the inbox over SQLite against LangGraph's interrupt and resume on its SQLite saver. Both do
// one question after the other, in alternating rounds. (The saver leaves `synchronous` at NORMAL; the inbox's is FULL.)
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Inbox, toQuestionsPayload } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'

const ROUNDS = 7
const ASKS = 150

const questions = [
  { id: 'db', question: 'Which store?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] },
]

async function ours(directory) {
  const inbox = new Inbox({ store: await openSqliteStore({ file: join(directory, 'inbox.db') }) })
  await inbox.start()
  let asked = 0
  return {
    async ask() {
      const { request } = await inbox.open({
        kind: 'questions',
        payload: toQuestionsPayload(questions),
        key: `key-${(asked += 1)}`,
      })
      const waiting = inbox.wait(request.id)
      const answer = { answers: [{ id: 'db', selected: ['SQLite'] }] }
      await inbox.decide(
        request.id,
        { outcome: 'answered', answer },
        { commandId: crypto.randomUUID(), surface: 'bench' },
      )
      await waiting
    },
    close: () => inbox.close(),
  }
}

async function langgraph(directory) {
  const state = Annotation.Root({ answer: Annotation() })
  const graph = new StateGraph(state)
    .addNode('ask', () => ({ answer: interrupt({ questions }) }))
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer: SqliteSaver.fromConnString(join(directory, 'langgraph.db')) })
  let asked = 0
  return {
    async ask() {
      const config = { configurable: { thread_id: `thread-${(asked += 1)}` } }
      await graph.invoke({}, config)
      const { answer } = await graph.invoke(new Command({ resume: 'SQLite' }), config)
      if (answer !== 'SQLite') throw new Error('the graph did not resume')
    },
    close: async () => {},
  }
}

export async function run() {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-bench-'))
  const contestants = {
    'inbox over SQLite': await ours(directory),
    'LangGraph over SQLite': await langgraph(directory),
  }
  const rounds = new Map(Object.keys(contestants).map(name => [name, []]))
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [name, { ask }] of Object.entries(contestants)) {
      const started = process.hrtime.bigint()
      for (let count = 0; count < ASKS; count += 1) await ask()
      if (round >= 0) rounds.get(name).push((ASKS * 1e9) / Number(process.hrtime.bigint() - started))
    }
  }
  const [inbox, peer] = [...rounds.values()].map(
    rates => rates.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)],
  )
  console.log('ask, answer, settle, one after the other, median of', ROUNDS, 'alternating rounds')
  console.log(
    `  inbox over SQLite      ${inbox.toFixed(0).padStart(7)} a second   ${(inbox / peer).toFixed(1)} x LangGraph`,
  )
  console.log(`  LangGraph over SQLite  ${peer.toFixed(0).padStart(7)} a second`)
  for (const { close } of Object.values(contestants)) await close()
  rmSync(directory, { recursive: true, force: true })
}
