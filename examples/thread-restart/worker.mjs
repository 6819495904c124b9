// Asks in a thread, prints what it hears, and ends when the thread says that its question is over.
import { InboxService } from '@handraise/inbox'
import * as thread from '@handraise/thread'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'

const store = new thread.FileThread({ file: process.argv[2], pollMs: 50 })
const ctx = new Context()
await ctx.plugin(UserQuestionService)
const inbox = await ctx.plugin(InboxService)
await ctx.plugin(thread, {
  store,
  onMessage: (item, why) => console.log(`message (${why}): ${thread.textOf(item)}`),
})

const options = [{ label: 'staging' }, { label: 'production' }]
const questions = [{ id: 'target', question: 'Deploy where?', options }]
const { answers } = await ctx.userQuestions.ask({ questions, session: 'release', key: 'call-1' })
console.log(`answer: ${answers[0].selected[0]}`)
const isOver = async () =>
  (await store.since()).items.some(({ metadata }) => metadata?.type === 'pending_prompt_resolved')
while (!(await isOver())) await new Promise(resolve => setTimeout(resolve, 10))
await inbox.dispose()
