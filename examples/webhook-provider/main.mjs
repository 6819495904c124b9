import assert from 'node:assert/strict'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'
import { codeIn, openChat } from './chat.mjs'
import { webhookProvider } from './webhook-provider.mjs'
import { incomingWebhook, outgoingWebhook } from './webhooks.mjs'

// A chat of yours, or without these one that this program brings.
const { WEBHOOK, TOKEN = 'its-token', PORT = 0 } = process.env
const chat = WEBHOOK === undefined ? await openChat() : undefined

const provider = webhookProvider(incomingWebhook(WEBHOOK ?? chat.webhook))
const callback = await outgoingWebhook({ token: TOKEN, take: provider.take, port: Number(PORT) })
const ctx = new Context()
await ctx.plugin(UserQuestionService)
ctx.userQuestions.registerProvider(provider)

const where = {
  id: 'where',
  question: 'Deploy where?',
  options: [{ label: 'staging' }, { label: 'production' }],
}
const name = { id: 'name', question: 'What is the release called?' }
const asking = Promise.all([where, name].map(question => ctx.userQuestions.ask({ questions: [question] })))
if (chat === undefined) console.log(`two questions are in the chat; it is listened to at ${callback.url}`)
else await answerInTurn()
const answers = (await asking).flatMap(result => result.answers)
console.log(JSON.stringify(answers))
await callback.close()
await chat?.close()

/** The second question is answered first, and somebody without the token is not heard. */
async function answerInTurn() {
  const [first, second] = await Promise.all([chat.message(where.question), chat.message(name.question)])
  assert.equal(
    await chat.say(callback.url, { token: 'guessed', text: `answer ${codeIn(first)} production` }),
    403,
  )
  await chat.say(callback.url, { token: TOKEN, text: `answer ${codeIn(second)} Heron` })
  await chat.say(callback.url, { token: TOKEN, text: `answer ${codeIn(first)} 1` })
  assert.deepEqual(
    (await asking).flatMap(result => result.answers),
    [
      { id: 'where', selected: ['staging'] },
      { id: 'name', selected: [], custom: 'Heron' },
    ],
  )
  for (const message of chat.messages) console.log(message.replace(/^/gm, '| '), '\n')
}
