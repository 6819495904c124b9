import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providerSuite, remotePerson } from '@handraise/user-questions/testing'
import { desktopProvider } from './desktop-provider.mjs'
import { openDesktop } from './desktop.mjs'

const harness = {
  async open(person) {
    const { before, actAt } = remotePerson(person)
    const desktop = await openDesktop(({ buttons, press, dismiss }) => {
      const [ask, question] = buttons[0][0].split('/').map(decodeURIComponent)
      const { act, answer } = actAt(ask, question)
      if (act === 'answer') press(answer.selected[0])
      if (act === 'dismiss') dismiss()
    })
    return { provider: before(desktopProvider()), close: desktop.close }
  },
  lacks: {
    multiSelect: 'a button that is pressed ends the notification',
    freeText: 'nothing can be written in a notification',
    textBesideLabels: 'nothing can be written in a notification',
    skip: 'no button for it',
    decline: 'no button for it',
  },
}

for (const { name, run } of providerSuite(harness)) test(name, run)

const options = [{ label: 'staging' }, { label: 'production', description: 'what customers see' }]
const where = { id: 'where', header: 'Deploy', question: 'Deploy where?', options }

/** Runs `body` with a desktop, and what asks there. */
const using = body => async () => {
  const desktop = await openDesktop()
  const end = new AbortController()
  const provider = desktopProvider()
  const ask = (...questions) => provider.ask({ id: 'ask-1', questions, signal: end.signal, engaged() {} })
  try {
    await body({ desktop, ask, end })
  } finally {
    end.abort()
    await desktop.close()
  }
}

test(
  'an abort closes the notification',
  using(async ({ desktop, ask, end }) => {
    const asking = ask(where)
    await desktop.shows(1)
    end.abort(new Error('the agent left'))
    await assert.rejects(asking, /the agent left/)
    await desktop.shows(0)
  }),
)

test(
  'a question is shown as text, whatever it looks like',
  using(async ({ desktop, ask }) => {
    const odd = { label: '--wait=1' }
    const asking = ask({
      ...where,
      header: '-h',
      question: '<b>C:\\new</b> & \u001b',
      options: [odd, ...options],
    })
    const [{ title, body, buttons, press }] = await desktop.shows(1)
    assert.equal(title, '-h')
    assert.equal(body, '&#60;b&#62;C:&#92;new&#60;/b&#62; &#38; &#92;u001b\nproduction: what customers see')
    assert.deepEqual(
      buttons.map(button => button[1]),
      ['--wait=1', 'staging', 'production'],
    )
    press('--wait=1')
    assert.deepEqual((await asking).answers[0].selected, ['--wait=1'])
  }),
)

for (const [what, question] of Object.entries({
  'free text': { ...where, options: undefined },
  'several options': { ...where, multiSelect: true },
  'one of more options than there are buttons': {
    ...where,
    options: [1, 2, 3, 4].map(label => ({ label: `${label}` })),
  },
  'a decision on a text': { ...where, detail: 'a plan' },
}))
  test(
    `a question for ${what} is not shown, and says what could be asked`,
    using(async ({ desktop, ask }) => {
      await assert.rejects(ask(question), ({ code, details }) => {
        assert.deepEqual([code, details.reason], ['ASK_UNAVAILABLE', 'unsupported-question'])
        return /one of at most 3 options/.test(details.advice)
      })
      assert.equal(desktop.open.size, 0)
    }),
  )

test(
  'a desktop without buttons makes it a question that could not be asked',
  using(async ({ desktop, ask }) => {
    const asking = ask(where)
    const [notification] = await desktop.shows(1)
    notification.refuse()
    await assert.rejects(asking, { code: 'ASK_UNAVAILABLE' })
  }),
)

test('so does a machine without notify-send', async () => {
  const { PATH } = process.env
  process.env.PATH = ''
  const { signal } = new AbortController()
  const asking = desktopProvider().ask({ id: 'ask-1', questions: [where], signal, engaged() {} })
  await assert.rejects(asking, { code: 'ASK_UNAVAILABLE' }).finally(() => {
    process.env.PATH = PATH
  })
})
