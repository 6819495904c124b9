import { expect, test } from 'vitest'
import { serve } from './served.ts'

const GRACE_MS = 100

async function untilSettled(
  get: () => Promise<{ settlement?: { outcome: string; reason?: string | undefined } | undefined }>,
) {
  for (;;) {
    const { settlement } = await get()
    if (settlement !== undefined) return settlement
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

test('a request without a key that nobody waits for is withdrawn', async () => {
  const { client, ask } = await serve({ askerGraceMs: GRACE_MS })
  const id = await ask()
  expect(await untilSettled(() => client.get(id))).toMatchObject({
    outcome: 'aborted',
    reason: 'the asker went away',
  })
})

test('a request without a key stays as long as somebody waits, and goes when they went', async () => {
  const { client, ask } = await serve({ askerGraceMs: GRACE_MS })
  const id = await ask()
  const leaving = new AbortController()
  const waiting = client.wait(id, { signal: leaving.signal }).catch(() => {})
  await new Promise(resolve => setTimeout(resolve, 4 * GRACE_MS))
  expect((await client.get(id)).settlement).toBeUndefined()
  leaving.abort()
  await waiting
  expect(await untilSettled(() => client.get(id))).toMatchObject({ outcome: 'aborted' })
})

test('a request with a key stays, whoever waits', async () => {
  const { client, ask } = await serve({ askerGraceMs: GRACE_MS })
  const id = await ask(undefined, { key: 'k' })
  await new Promise(resolve => setTimeout(resolve, 4 * GRACE_MS))
  expect((await client.get(id)).settlement).toBeUndefined()
})
