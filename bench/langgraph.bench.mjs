// Durable ask, answer, settle: the inbox over SQLite against LangGraph's interrupt and resume on its SQLite saver, both with
// `synchronous=FULL`, alone and with 64 in flight, in alternating rounds.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Inbox, toQuestionsPayload } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'

const ROUNDS = 5
const ASKS = 256

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
  const checkpointer = SqliteSaver.fromConnString(join(directory, 'langgraph.db'))
  checkpointer.setup()
  checkpointer.db.pragma('synchronous = FULL')
  const state = Annotation.Root({ answer: Annotation() })
  const graph = new StateGraph(state)
    .addNode('ask', () => ({ answer: interrupt({ questions }) }))
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer })
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

/** Asks a second, with so many in flight. */
async function rate({ ask }, inFlight) {
  let left = ASKS
  const lane = async () => {
    while (left > 0) {
      left -= 1
      await ask()
    }
  }
  const started = process.hrtime.bigint()
  await Promise.all(Array.from({ length: inFlight }, lane))
  return (ASKS * 1e9) / Number(process.hrtime.bigint() - started)
}

export async function run() {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-bench-'))
  const [inbox, peer] = [await ours(directory), await langgraph(directory)]
  console.log('ask, answer, settle, median of', ROUNDS, 'alternating rounds')
  for (const inFlight of [1, 64]) {
    const rates = { inbox: [], peer: [] }
    for (let round = -1; round < ROUNDS; round += 1) {
      const [inboxRate, peerRate] = [await rate(inbox, inFlight), await rate(peer, inFlight)]
      if (round < 0) continue
      rates.inbox.push(inboxRate)
      rates.peer.push(peerRate)
    }
    const [inboxRate, peerRate] = [median(rates.inbox), median(rates.peer)]
    console.log(
      `  ${String(inFlight).padStart(2)} in flight: inbox ${inboxRate.toFixed(0).padStart(6)} a second, LangGraph ${peerRate.toFixed(0).padStart(5)} a second: ${(inboxRate / peerRate).toFixed(1)} x`,
    )
  }
  await inbox.close()
  rmSync(directory, { recursive: true, force: true })
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
