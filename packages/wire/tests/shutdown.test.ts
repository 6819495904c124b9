import { expect, test } from 'vitest'
import type { SessionAgent } from '../src/index.ts'
import { host } from './wired.ts'

test('a host that shuts down says so to whoever waits for its agent', async () => {
  let asked = (): void => {}
  const waiting = new Promise<void>(resolve => (asked = resolve))
  const agent: SessionAgent = {
    run() {},
    request: (_method, _params, signal) => {
      asked()
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      )
    },
  }
  const hosted = await host({ agent })
  const peer = await hosted.peer().start()
  const answer = peer.request('model/list')
  await waiting
  await hosted.close()
  expect(await answer).toMatchObject({ error: { code: -32_013, data: { kind: 'interrupted' } } })
})
