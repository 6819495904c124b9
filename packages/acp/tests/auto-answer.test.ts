import { describe, expect, test } from 'vitest'
import { acpProvider } from '../src/index.ts'
import { HandClock, requestOf, STORE } from './asking.ts'
import { connected, FORMS } from './editor.ts'

const unavailable = { code: 'ASK_UNAVAILABLE', details: { reason: 'no-capable-client' } }

/** A provider of forms whose editor gives that reply after that many milliseconds. */
function replying(reply: object, tookMs: number, autoAnswerMs?: number) {
  const clock = new HandClock()
  const { ours } = connected({
    form() {
      clock.pass(tookMs)
      return reply
    },
  })
  const provider = acpProvider(ours.client, { sessionId: 's', capabilities: FORMS, clock, autoAnswerMs })
  return { ask: provider.ask, clock }
}

describe('a form that the editor replies to by itself', () => {
  test.each([
    [{ action: 'accept', content: { db: 'Postgres' } }],
    [{ action: 'accept', content: {} }],
    [{ action: 'accept', content: { db: 'MySQL' } }],
    [{ action: 'accept' }],
    [{ action: 'decline' }],
  ])('was shown to nobody: %j', async reply => {
    const { ask, clock } = replying(reply, 299)
    await expect(ask(requestOf())).rejects.toMatchObject(unavailable)
    expect(clock.armed).toBe(0)
  })

  test('is told from a person by the time they need', async () => {
    const accept = { action: 'accept', content: { db: 'Postgres' } }
    const answers = [{ id: 'db', selected: ['Postgres'] }]
    expect(await replying(accept, 300).ask(requestOf())).toEqual({ answers })
    expect(await replying(accept, 0, 0).ask(requestOf())).toEqual({ answers })
    await expect(replying(accept, 900, 1_000).ask(requestOf())).rejects.toMatchObject(unavailable)
    await expect(replying({ action: 'decline' }, 300).ask(requestOf())).rejects.toMatchObject({
      code: 'ASK_DECLINED',
    })
  })

  test('answers no guarded question and no plan', async () => {
    const plan = { kind: 'plan-review', approve: 'Postgres' } as const
    for (const more of [{ guarded: true }, { intent: plan }]) {
      const { ask } = replying({ action: 'accept', content: { db: 'Postgres' } }, 5)
      const asking = ask(requestOf({ questions: [{ ...STORE, ...more }] }))
      await expect(asking).rejects.toMatchObject(unavailable)
    }
  })

  test('is cancelled where it is cancelled, since that decides nothing', async () => {
    await expect(replying({ action: 'cancel' }, 0).ask(requestOf())).rejects.toMatchObject({
      code: 'ASK_CANCELLED',
    })
  })
})
