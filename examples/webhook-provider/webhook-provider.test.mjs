import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { providerSuite, remotePerson, typedLine } from '@handraise/user-questions/testing'
import { codeIn, openChat } from './chat.mjs'
import { webhookProvider } from './webhook-provider.mjs'
import { incomingWebhook, outgoingWebhook } from './webhooks.mjs'

const token = 'test-token'

/** A provider on a chat of its own, whose person says what `reply` gives for each question that is posted, if anything. */
async function open(reply = () => undefined) {
  // A message shows its code alone; here it is known of which ask it is as well.
  const asking = new AsyncLocalStorage()
  const asks = new Map()
  const chat = await openChat(text => {
    const code = codeIn(text)
    const line = code && reply(asks.get(text))
    if (line !== undefined) void chat.say(callback.url, { token, text: `answer ${code} ${line}` })
  })
  const post = incomingWebhook(chat.webhook)
  const { take, ...provider } = webhookProvider((text, signal) => {
    asks.set(text, asking.getStore())
    return post(text, signal)
  })
  const callback = await outgoingWebhook({ token, take })
  return {
    chat,
    callback,
    provider: {
      ...provider,
      ask: request => asking.run({ request, left: [...request.questions] }, () => provider.ask(request)),
    },
    async close() {
      await callback.close()
      await chat.close()
    },
  }
}

const harness = {
  async open(person) {
    const { before, actAt } = remotePerson(person)
    const opened = await open(({ request, left }) => {
      const question = left.shift()
      return typedLine(question, actAt(request.id, question.id))
    })
    return { ...opened, provider: before(opened.provider) }
  },
  lacks: { textBesideLabels: 'a reply is read as labels or as text' },
}

for (const { name, run } of providerSuite(harness)) test(name, run)

/** Runs `body` with what was opened, and closes it. */
const using = body => async () => {
  const opened = await open()
  const say = (text, over) => opened.chat.say(opened.callback.url, { token, text, ...over })
  const end = new AbortController()
  const ask = (...questions) =>
    opened.provider.ask({ id: questions[0].id, questions, signal: end.signal, engaged() {} })
  try {
    await body({ ...opened, say, ask, end })
  } finally {
    end.abort()
    await opened.close()
  }
}

const options = [{ label: 'staging' }, { label: 'production' }]
const where = { id: 'where', question: 'Deploy where?', options }
const checks = { id: 'checks', question: 'Which checks?', options, multiSelect: true, minSelections: 2 }

test(
  'a reply answers the question whose code it has, in whatever order they come',
  using(async ({ chat, say, ask }) => {
    const asking = [ask(where), ask({ ...where, question: 'And the docs?' })]
    const first = codeIn(await chat.message('Deploy where?'))
    const second = codeIn(await chat.message('And the docs?'))
    assert.equal(await say(`answer ${second} 2`), 'Thank you.')
    assert.equal(await say(`answer ${second} 1`), 'No question waits under that code.')
    assert.equal(await say(`answer ${first} staging`), 'Thank you.')
    const chosen = (await Promise.all(asking)).map(({ answers }) => answers[0].selected)
    assert.deepEqual(chosen, [['staging'], ['production']])
  }),
)

test(
  'a reply that is no answer is told why, and the question goes on waiting',
  using(async ({ chat, say, ask }) => {
    const asking = ask(checks)
    const code = codeIn(await chat.message('Which checks?'))
    assert.match(await say(`answer ${code} 1`), /at least 2/)
    assert.match(await say(`answer ${code} /help`), /no command .help.*Write an answer, or .skip/)
    assert.match(await say(`Answer ${code}`), /Nothing was typed/)
    await say(`answer ${code} 1, 2`)
    assert.deepEqual((await asking).answers[0].selected, ['staging', 'production'])
  }),
)

test(
  'an abort is told in the chat, and no reply counts after it',
  using(async ({ chat, say, ask, end }) => {
    const asking = ask(where)
    const code = codeIn(await chat.message('Deploy where?'))
    end.abort(new Error('the agent left'))
    await assert.rejects(asking, /the agent left/)
    await chat.message(code, 'is over')
    assert.equal(await say(`answer ${code} 1`), 'No question waits under that code.')
  }),
)

test(
  'nothing is taken without the token, in another form, or of any length',
  using(async ({ chat, say, ask, callback }) => {
    const asking = ask(where)
    const text = `answer ${codeIn(await chat.message('Deploy where?'))} 2`
    assert.equal(await say(text, { token: 'guessed' }), 403)
    assert.equal(await say(text, { token: undefined }), 400)
    assert.equal(await say(text + ' '.repeat(100_000)), 413)
    assert.equal((await fetch(callback.url)).status, 400)
    await say(text.replace(/2$/, '1'))
    assert.deepEqual((await asking).answers[0].selected, ['staging'])
  }),
)

test(
  'a question mentions nobody, and is not what a terminal would obey',
  using(async ({ chat, ask }) => {
    ask({ id: 'odd', question: '@everyone <!here> [safe](https://example.org) \u001b[2J' }).catch(() => {})
    assert.equal(
      (await chat.message('everyone')).split('\n')[0],
      '@\u200beveryone <\u200b!here> [safe]\u200b(https://example.org) \\u001b[2J',
    )
  }),
)

test(
  'a chat that does not take the question makes it one that could not be asked',
  using(async ({ chat, ask }) => {
    await chat.close()
    await assert.rejects(ask(where), { code: 'ASK_UNAVAILABLE' })
  }),
)
