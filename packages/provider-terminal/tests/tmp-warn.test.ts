import { test, vi } from 'vitest'
import { Context } from 'cordis'
import { UserQuestionService } from '@handraise/user-questions'
import { terminalPerson } from './harness.ts'
test('w', async () => {
  const seen: string[] = []
  process.on('warning', w => seen.push(String(w.stack)))
  const ctx = new Context()
  await ctx.plugin(UserQuestionService)
  const { provider, press } = terminalPerson()
  await ctx.userQuestions.registerProvider(provider as never)
  const c = new AbortController()
  const all = Array.from({ length: 13 }, () => ctx.userQuestions.ask({ questions: [{ id: 'a', question: 'A?', options: [{ label: 'x' }] }], signal: c.signal }).catch(e => String(e)))
  await new Promise(r => setTimeout(r, 100))
  c.abort()
  console.log(await Promise.all(all).then(a => a.slice(0, 2)))
  await new Promise(r => setTimeout(r, 50))
  console.log('WARN', seen.join('\n'))
})
