// Run by `processes.test.ts`, from what was built: a host with an inbox in a file, which tells a command.
import { InboxService } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import * as notices from '@handraise/notices'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'

const [, , file, command] = process.argv
const ctx = new Context()
await ctx.plugin(UserQuestionService)
await ctx.plugin(InboxService, { store: await openSqliteStore({ file }) })
await ctx.plugin(notices, { command: JSON.parse(command) })
process.on('message', () => {
  ctx.userQuestions.ask({ questions: [{ id: 'a', question: 'A?' }] }).catch(() => {})
})
process.send('ready')
