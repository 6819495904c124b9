import { MemoryMedium, MemoryStore, QUESTIONS, toQuestionsPayload } from '@handraise/inbox'
import { UserQuestionError } from '@handraise/user-questions'
import { expect, test } from 'vitest'
import { DB, manualProvider, settled, startHost } from './host.ts'

/** A host whose store takes its time to open a request, and a request that is under way there. */
async function opening(key?: string) {
  const medium = new MemoryMedium()
  const store = new MemoryStore(medium)
  let release = (): void => {}
  const held = new Promise<void>(resolve => (release = resolve))
  const open = store.open.bind(store)
  store.open = async options => {
    const opened = await open(options)
    await held
    return opened
  }
  const host = await startHost(medium, { store })
  const provider = manualProvider('terminal')
  host.ctx.userQuestions.registerProvider(provider)
  const controller = new AbortController()
  const request = {
    kind: QUESTIONS,
    payload: toQuestionsPayload([DB]),
    ...(key === undefined ? {} : { key }),
  }
  const asking = host.ctx.inbox.request(request, controller.signal).catch((error: unknown) => error)
  await settled()
  return { ...host, provider, controller, asking, release }
}

test('a request that is left while it is opened is shown to nobody, and withdrawn', async () => {
  const { inbox, provider, controller, asking, release } = await opening()
  controller.abort(new Error('given up'))
  release()
  expect(await asking).toEqual(new Error('given up'))
  await settled()
  expect(provider.shown).toEqual([])
  const { requests } = await inbox.list({ state: 'settled' })
  expect(requests.map(({ settlement }) => settlement?.outcome)).toEqual(['aborted'])
})

test('one that is left with its host stays for whoever comes back for it', async () => {
  const { inbox, provider, controller, asking, release } = await opening('k')
  const gone = new UserQuestionError('PROVIDER_GONE')
  controller.abort(gone)
  release()
  expect(await asking).toBe(gone)
  await settled()
  expect(provider.shown).toEqual([])
  expect((await inbox.list({ state: 'pending' })).requests).toHaveLength(1)
})
