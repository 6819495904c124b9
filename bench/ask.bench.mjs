// `ask()` through the seam against calling the provider bare, and against the seed's published package, in one process.
// Rounds of the contestants alternate, so that a machine that slows down slows all of them; the median round counts.
import { AgentRegistry } from '@handraise/agents'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { Context as PeerContext } from '@deepseek-ai/cordis'
import { AgentRegistry as PeerAgentRegistry } from '@deepseek-ai/dsh-agent'
import { UserQuestionService as PeerUserQuestionService } from '@deepseek-ai/dsh-user-questions'

const ROUNDS = 21
const ASKS = 2_000

const questions = [
  {
    id: 'db',
    question: 'Which store?',
    header: 'Store',
    options: [{ label: 'Postgres' }, { label: 'SQLite (Recommended)' }],
  },
]
const answer = { answers: [{ id: 'db', selected: ['Postgres'] }] }
const provider = { ask: () => Promise.resolve(answer) }

/** A seam with `live` root agents; asks as the last of them. */
async function ours(live, { listeners = false } = {}) {
  const ctx = new Context()
  await ctx.plugin(AgentRegistry)
  await ctx.plugin(UserQuestionService)
  ctx.userQuestions.registerProvider(provider)
  if (listeners) {
    ctx.on('user-questions/asked', () => {})
    ctx.on('user-questions/settled', () => {})
  }
  const agent = enterAgents(live, id => {
    const entered = { id }
    ctx.agents.enter(entered)
    return entered
  })
  const { signal } = new AbortController()
  return () => ctx.userQuestions.ask({ questions, agent, signal })
}

async function peer(live) {
  const ctx = new PeerContext()
  await ctx.plugin(PeerAgentRegistry)
  await ctx.plugin(PeerUserQuestionService)
  ctx.userQuestions.registerProvider(provider)
  const agent = enterAgents(live, id => {
    const entered = { id, session: { id } }
    ctx.agents.enter(entered, undefined)
    return entered
  })
  const { signal } = new AbortController()
  return () => ctx.userQuestions.ask({ questions, agent, signal })
}

function enterAgents(live, enter) {
  let last
  for (let number = 1; number <= live; number += 1) last = enter(`agent-${number}`)
  return last
}

/** Median nanoseconds an ask, for each contestant. */
async function race(contestants) {
  const rounds = new Map(Object.keys(contestants).map(name => [name, []]))
  for (let round = -3; round < ROUNDS; round += 1) {
    for (const [name, { ask, asks = ASKS }] of Object.entries(contestants)) {
      const started = process.hrtime.bigint()
      for (let count = 0; count < asks; count += 1) await ask()
      const perAsk = Number(process.hrtime.bigint() - started) / asks
      if (round >= 0) rounds.get(name).push(perAsk)
    }
  }
  return new Map(
    [...rounds].map(([name, times]) => [name, times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]]),
  )
}

export async function run() {
  const times = await race({
    'provider called bare': { ask: () => provider.ask({ questions }) },
    'seam, 1 live agent': { ask: await ours(1) },
    'seam, 100,000 live agents': { ask: await ours(100_000) },
    'seam, 1 live agent, listeners': { ask: await ours(1, { listeners: true }) },
    'dsh-user-questions, 1 live agent': { ask: await peer(1) },
    'dsh-user-questions, 10,000 live agents': { ask: await peer(10_000), asks: 100 },
    'dsh-user-questions, 100,000 live agents': { ask: await peer(100_000), asks: 20 },
  })
  const peerTime = times.get('dsh-user-questions, 1 live agent')
  const bare = times.get('provider called bare')
  console.log('ask(), median of', ROUNDS, 'alternating rounds')
  for (const [name, time] of times) {
    console.log(
      `  ${name.padEnd(42)} ${(time / 1000).toFixed(2).padStart(9)} us   ${(time / bare).toFixed(1).padStart(7)} x bare   ${(time / peerTime).toFixed(2).padStart(7)} x peer`,
    )
  }
}
