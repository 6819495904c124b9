import { acceptedContent, inputRequired, Pauses } from '@handraise/mcp'
import { expect, test } from 'vitest'
import { accept, connect, makeServer, round, textOf, toolServer } from './pause-scene.ts'

test('a user whom a number names is told from another, and one that nothing tells is refused', async () => {
  const { person } = numbered()
  const ask = async (sub: unknown) => {
    const authInfo = { token: 'token', clientId: 'app', scopes: [], extra: { sub } }
    return await connect('2026', person, { authInfo })
  }
  const { requestState } = await round(await ask(42))
  const answer = { inputResponses: { go: accept(true) }, requestState }
  await expect(round(await ask(43), answer)).rejects.toMatchObject({ code: -32602 })
  expect(textOf(await round(await ask(42), answer))).toBe('done')
  for (const sub of [null, {}, true, 2 ** 53])
    expect(textOf(await round(await ask(sub)))).toContain('the user of a token is not known')
})

function numbered() {
  const person = toolServer(new Pauses(), {}, ({ inputResponses }) =>
    acceptedContent(inputResponses, 'go') === true
      ? 'done'
      : inputRequired({ requests: [{ id: 'go', schema: { type: 'boolean' } }] }),
  )
  return { person }
}

test('with a scope a state is bound to its server', async () => {
  const effects: string[] = []
  const names = new WeakMap<object, string>()
  const pauses = new Pauses({ scope: server => names.get(server) ?? '' })
  const build = (name: string) => () =>
    makeServer(server => {
      names.set(server, name)
      pauses.registerTool(server, 'tool', {}, ({ inputResponses }) => {
        if (acceptedContent(inputResponses, 'go') !== true) return inputRequired({ requests: [{ id: 'go' }] })
        effects.push(name)
        return name
      })
    })
  const staging = await connect('2026', build('staging'))
  const production = await connect('2026', build('production'))
  const { requestState } = await round(staging)
  const answer = { inputResponses: { go: { action: 'accept' } }, requestState }
  await expect(round(production, answer)).rejects.toMatchObject({ code: -32602 })
  expect(textOf(await round(staging, answer))).toBe('staging')
  expect(effects).toEqual(['staging'])
  const nowhere = await connect('2026', build(''))
  expect(textOf(await round(nowhere))).toContain('the scope of a server is not known')
})
