// An agent that asks before it deploys, run headless. Exits with 1 when anything is not as the script says.
import assert from 'node:assert/strict'
import { autoProvider } from '@handraise/provider-auto'
import { Context } from 'cordis'
import * as handraise from 'handraise'

/** Stands in for a model: asks for the target, then acts on what it was told. */
async function deployAgent(tools, agent) {
  const questions = [
    { id: 'target', question: 'Where to?', options: [{ label: 'staging' }, { label: 'production' }] },
    { id: 'notes', question: 'Anything to tell the team?' },
  ]
  const signal = new AbortController().signal
  const result = await tools.execute({
    callId: 'call-1',
    name: 'ask_user_question',
    arguments: { questions },
    agent,
    signal,
  })
  if (result.isError) return `stopped: ${result.error.code}`
  const [target, notes] = result.value.answers
  return `deployed to ${target.selected[0]}; told the team: ${notes.custom}`
}

async function runHeadless(script) {
  const ctx = new Context()
  const auto = autoProvider({ script })
  await ctx.plugin(handraise, { provider: auto })
  const agent = { id: 'deploy-agent' }
  ctx.agents.enter(agent)
  const outcome = await deployAgent(ctx.tools, agent)
  await ctx.fiber.dispose()
  return { outcome, unused: auto.unused().length }
}

assert.deepEqual(await runHeadless({ target: 'staging', notes: 'all green', rollback: 'no' }), {
  outcome: 'deployed to staging; told the team: all green',
  unused: 1,
})
// What nobody wrote an answer for is refused, so the agent does not deploy.
assert.deepEqual(await runHeadless({ target: 'production' }), {
  outcome: 'stopped: ASK_UNAVAILABLE',
  unused: 0,
})
console.log('headless-agent: ok')
