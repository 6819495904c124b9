import assert from 'node:assert/strict'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { desktopProvider } from './desktop-provider.mjs'
import { openDesktop } from './desktop.mjs'

// With `--real` it is the desktop of this machine that asks.
const desktop = process.argv.includes('--real') ? undefined : await openDesktop()

const ctx = new Context()
await ctx.plugin(UserQuestionService)
ctx.userQuestions.registerProvider(desktopProvider())

const options = [{ label: 'staging' }, { label: 'production', description: 'what customers see' }]
const asking = ctx.userQuestions.ask({ questions: [{ id: 'where', question: 'Deploy where?', options }] })
if (desktop !== undefined) {
  const [{ title, body, buttons, press }] = await desktop.shows(1)
  console.log(`${title}\n${body}\n${buttons.map(([, text]) => `[ ${text} ]`).join('  ')}`)
  press('staging')
  assert.deepEqual(await asking, { answers: [{ id: 'where', selected: ['staging'] }] })
}
console.log(JSON.stringify(await asking))
await desktop?.close()
