// An agent that may write nothing unless a person lets it. Exits with 1 when anything is not as the person decides.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InboxService } from '@handraise/inbox'
import { defineTool, ToolService } from '@handraise/tools'
import { guardTools, UserApprovalService } from '@handraise/user-approvals'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { z } from 'zod'

/** The tool says what a call would do; whether it may is asked before it runs. */
const writeFileTool = defineTool({
  name: 'write_file',
  description: 'Writes a file.',
  parameters: z.object({ path: z.string(), text: z.string() }),
  permission: ({ path }) => ({ subject: { kind: 'fileAccess', access: 'write', path } }),
  async execute({ path, text }) {
    await writeFile(path, text)
    return `wrote ${path}`
  },
})

let made = 0

/** Stands in for a model: makes its calls one after the other, reads every result, and ends its turn with a message. */
async function agentTurn(tools, session, calls) {
  const done = []
  const left = []
  for (const [path, text] of calls) {
    made += 1
    const result = await tools.execute({
      // Unique within the session, as a model's are.
      callId: `call-${made}`,
      name: 'write_file',
      arguments: { path, text },
      session,
      signal: new AbortController().signal,
    })
    console.log(`  ${result.content}`)
    assert.equal(result.isError, false)
    if (result.value.notDone === true) left.push(`${path} (${result.value.outcome.feedback})`)
    else done.push(path)
  }
  const said = done.length === 0 ? '' : `I wrote ${done.join(' and ')}. `
  return `${said}${left.length === 0 ? 'That is all.' : `I did not write ${left.join(' and ')}.`}`
}

/** The person: decides each approval as soon as it comes up, and keeps what was shown. */
function person(decide) {
  const shown = []
  const plugin = {
    name: 'person',
    inject: ['inbox'],
    async apply(ctx) {
      const { core } = ctx.inbox
      await ctx.inbox.attachSurface({
        name: 'person',
        viewers: () => 1,
        async opened({ id, payload }) {
          shown.push(payload)
          const command = { commandId: crypto.randomUUID(), surface: 'person' }
          await core.decide(id, { outcome: 'answered', answer: decide(payload) }, command)
        },
        settled() {},
      })
    },
  }
  return { shown, plugin }
}

const directory = await mkdtemp(join(tmpdir(), 'approve-or-deny-'))
const notes = join(directory, 'notes.txt')
const secrets = join(directory, 'secrets.txt')
const { shown, plugin } = person(({ subject }) =>
  subject.path === notes
    ? { choiceId: 'allow_session' }
    : { choiceId: 'deny_feedback', feedback: 'secrets belong in the vault' },
)

const ctx = new Context()
await ctx.plugin(ToolService)
await ctx.plugin(UserQuestionService)
const inbox = await ctx.plugin(InboxService)
await ctx.plugin(UserApprovalService)
await ctx.plugin(guardTools)
await ctx.plugin(plugin)
ctx.tools.register(writeFileTool)
const outcomes = []
ctx.on('user-approvals/ended', ({ outcome }) => outcomes.push(outcome))

try {
  console.log('allowed for the session, then by the rule of that, without asking:')
  const first = await agentTurn(ctx.tools, 'session-1', [
    [notes, 'one'],
    [notes, 'two'],
  ])
  console.log(`  "${first}"`)
  assert.equal(first, `I wrote ${notes} and ${notes}. That is all.`)
  assert.equal(await readFile(notes, 'utf8'), 'two')
  assert.equal(shown.length, 1)
  const [asked, byRule] = outcomes
  const { rulePreview } = shown[0].choices.find(({ choiceId }) => choiceId === 'allow_session')
  console.log(`  remembered: ${rulePreview}`)
  assert.deepEqual(asked.amendment, { durability: 'session', rulePreview })
  assert.equal(asked.resolvedBy, 'user')
  assert.equal(byRule.resolvedBy, 'policy')
  assert.equal(byRule.why, `the rule “${rulePreview}”`)

  console.log('denied, with words, and the turn goes on to its end:')
  const second = await agentTurn(ctx.tools, 'session-1', [
    [secrets, 'hunter2'],
    [notes, 'three'],
  ])
  console.log(`  "${second}"`)
  assert.equal(second, `I wrote ${notes}. I did not write ${secrets} (secrets belong in the vault).`)
  assert.equal(shown.length, 2)
  assert.equal(outcomes[2].policyResult, 'deny')
  assert.equal(outcomes[2].feedback, 'secrets belong in the vault')
  assert.deepEqual(await readdir(directory), ['notes.txt'])
  assert.equal(await readFile(notes, 'utf8'), 'three')
  assert.equal((await ctx.userApprovals.rules('session-1')).length, 1)
} finally {
  await inbox.dispose()
  await rm(directory, { recursive: true })
}
console.log('approve-or-deny: ok')
