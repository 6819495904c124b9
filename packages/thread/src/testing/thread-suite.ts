import assert from 'node:assert/strict'
import { checkHarness, checkMembers } from '@handraise/user-questions/testing'
import { textOf, type ThreadDraft, type ThreadItem } from '../items.ts'
import type { ThreadStore } from '../thread-store.ts'
import type { ThreadBench, ThreadHarness } from './thread-harness.ts'

/** One promise of the contract. `run` rejects when the store breaks it. */
export interface ThreadCase {
  readonly name: string
  readonly run: () => Promise<void>
}

interface Scene {
  readonly bench: ThreadBench
  readonly agent: ThreadStore
  readonly ada: ThreadStore
  /** Rejects when it takes too long to be woken. */
  readonly inTime: (woken: Promise<void>) => Promise<void>
}

const TEXT = 'Which one? naïve 🚀\n  1. "a" — b\n  2. <c> & d'

const draft = (text: string): ThreadDraft => ({
  content: [{ type: 'text', text }],
  metadata: {
    type: 'pending_prompt',
    prompt: {
      prompt_id: `prm_${text}`,
      kind: 'ask_user_question',
      prompt_state: 'pending',
      questions: [{ question: text, multiSelect: false, options: [{ label: 'a' }, { label: '🚀' }] }],
    },
    handraise: { list: [null, { deep: [0, false, ''] }], text },
  },
})

/** All that follows a cursor, and where it ends. */
async function readAll(
  store: ThreadStore,
  from?: string,
  limit?: number,
): Promise<{ items: ThreadItem[]; cursor: string; pages: number }> {
  const items: ThreadItem[] = []
  let cursor = from
  let pages = 0
  for (let more = true; more; pages += 1) {
    assert.ok(pages < 1_000, 'there is more for ever')
    const page = await store.since(cursor, limit)
    items.push(...page.items)
    assert.ok(!page.more || page.cursor !== cursor, 'there is more at the same cursor')
    ;({ cursor, more } = page)
  }
  return { items, cursor: cursor ?? '', pages }
}

const textsOf = (items: readonly ThreadItem[]): string[] => items.map(textOf)

const CASES: readonly { readonly name: string; readonly run: (scene: Scene) => Promise<void> }[] = [
  {
    name: 'gives back what was posted as the item it is',
    async run({ agent }) {
      const posted = await agent.post(draft(TEXT))
      assert.equal(posted.author, agent.self)
      assert.equal(textOf(posted), TEXT)
      const [read] = (await readAll(agent)).items
      assert.equal(posted.id, read?.id, 'another id than the one read')
      assert.equal(posted.position, read?.position, 'another position than the one read')
    },
  },
  {
    name: 'keeps text and metadata as they were',
    async run({ agent, ada }) {
      await agent.post(draft(TEXT))
      const [read] = (await readAll(ada)).items
      assert.equal(read === undefined ? '' : textOf(read), TEXT)
      assert.deepEqual(JSON.parse(JSON.stringify(read?.metadata)), draft(TEXT).metadata)
    },
  },
  {
    name: 'tells who posted what',
    async run({ agent, ada }) {
      assert.notEqual(agent.self, ada.self)
      await agent.post(draft('one'))
      await ada.post(draft('two'))
      for (const store of [agent, ada]) {
        const { items } = await readAll(store)
        assert.deepEqual(
          items.map(({ author }) => author),
          [agent.self, ada.self],
        )
      }
    },
  },
  {
    name: 'gives positions in the order of the thread',
    async run({ agent, ada }) {
      for (const store of [agent, ada, agent, agent, ada]) await store.post(draft('any'))
      const positions = (await readAll(ada)).items.map(({ position }) => position)
      assert.equal(positions.length, 5)
      const sorted = positions.toSorted((a, b) => a - b)
      assert.deepEqual(positions, sorted, 'not in order')
      assert.equal(new Set(positions).size, 5, 'the same position twice')
    },
  },
  {
    name: 'is empty at first, with a cursor from which to read on',
    async run({ agent, ada }) {
      const { items, cursor } = await readAll(agent)
      assert.deepEqual(items, [])
      await ada.post(draft('first'))
      assert.deepEqual(textsOf((await readAll(agent, cursor)).items), ['first'])
    },
  },
  {
    name: 'reads on from a cursor, with nothing left out and nothing again',
    async run({ agent, ada }) {
      await agent.post(draft('one'))
      await ada.post(draft('two'))
      const first = await readAll(agent)
      assert.deepEqual((await readAll(agent, first.cursor)).items, [])
      await ada.post(draft('three'))
      await agent.post(draft('four'))
      assert.deepEqual(textsOf((await readAll(agent, first.cursor)).items), ['three', 'four'])
      assert.deepEqual(textsOf((await readAll(agent)).items), ['one', 'two', 'three', 'four'])
    },
  },
  {
    name: 'gives no more than the limit, and says when there is more',
    async run({ agent }) {
      for (const text of ['1', '2', '3', '4', '5']) await agent.post(draft(text))
      const { items, pages } = await readAll(agent, undefined, 2)
      assert.deepEqual(textsOf(items), ['1', '2', '3', '4', '5'])
      assert.ok(pages >= 3, 'more than the limit on a page')
    },
  },
  {
    name: 'shows a post of its own to whoever reads next',
    async run({ agent }) {
      let { cursor } = await readAll(agent)
      for (const text of ['1', '2', '3']) {
        await agent.post(draft(text))
        const page = await readAll(agent, cursor)
        assert.deepEqual(textsOf(page.items), [text])
        ;({ cursor } = page)
      }
    },
  },
  {
    name: 'keeps all of many posts made at once, each once',
    async run({ agent, ada }) {
      const texts = Array.from({ length: 20 }, (_, index) => `at once ${index}`)
      const posted = await Promise.all(
        texts.map((text, index) => (index % 2 === 0 ? agent : ada).post(draft(text))),
      )
      const { items } = await readAll(agent)
      assert.deepEqual(textsOf(items).toSorted(), texts.toSorted())
      assert.equal(new Set(posted.map(({ id }) => id)).size, 20, 'the same id twice')
      for (const { id, position } of posted)
        assert.equal(items.find(item => item.id === id)?.position, position)
    },
  },
  {
    name: 'keeps items, cursors and positions for a store that is opened anew',
    async run({ bench, agent, ada }) {
      const one = await agent.post(draft('one'))
      const { cursor } = await readAll(agent)
      await ada.post(draft('two'))
      const anew = await bench.open('agent')
      assert.equal(anew.self, agent.self)
      assert.deepEqual(textsOf((await readAll(anew, cursor)).items), ['two'])
      const [first] = (await readAll(anew)).items
      assert.deepEqual([first?.id, first?.position], [one.id, one.position])
    },
  },
  {
    name: 'wakes who follows when another posts',
    async run({ agent, ada, inTime }) {
      for (const text of ['one', 'two']) {
        let stop = (): void => {}
        const woken = new Promise<void>(resolve => {
          stop = agent.follow(resolve)
        })
        await ada.post(draft(text))
        await inTime(woken).finally(() => stop())
      }
    },
  },
  {
    name: 'wakes nobody who has stopped following',
    async run({ agent, ada, inTime }) {
      let count = 0
      const stop = agent.follow(() => (count += 1))
      stop()
      stop()
      const before = count
      let stopOther = (): void => {}
      const other = new Promise<void>(resolve => {
        stopOther = agent.follow(resolve)
      })
      await ada.post(draft('one'))
      await inTime(other).finally(() => stopOther())
      assert.equal(count, before, 'follow() went on waking after it was ended')
    },
  },
]

/**
 * The contract of `ThreadStore`, one case a promise, free of any test framework:
 *
 *     for (const { name, run } of threadStoreSuite(harness)) test(name, run)
 *
 * Throws a `TypeError` that says what is wrong with a harness that is none.
 */
export function threadStoreSuite(harness: ThreadHarness): ThreadCase[] {
  checkHarness('threadStoreSuite', harness, { members: { create: 'prepares a fresh, empty thread' } })
  return CASES.map(({ name, run }) => ({ name, run: () => withScene(harness, run) }))
}

const BENCH_MEMBERS = {
  open: 'opens one more store on the thread, for the given author',
  destroy: 'frees the thread',
}
const STORE_MEMBERS: Readonly<Record<Exclude<keyof ThreadStore, 'self'>, string>> = {
  post: 'posts an item and resolves with it',
  since: 'resolves with the items after a cursor',
  follow: 'calls back when there may be more, and returns what ends that',
}

async function withScene(harness: ThreadHarness, run: (scene: Scene) => Promise<void>): Promise<void> {
  const { withinMs = 5_000 } = harness
  const bench = await harness.create()
  checkMembers('threadStoreSuite: what create() gave', bench, BENCH_MEMBERS)
  const inTime = (woken: Promise<void>): Promise<void> =>
    within(
      woken,
      withinMs,
      'follow() woke nobody. Call what it was given when something may have been posted',
    )
  try {
    const [agent, ada] = [await bench.open('agent'), await bench.open('ada')]
    for (const store of [agent, ada])
      checkMembers('threadStoreSuite: the store that open() gave', store, STORE_MEMBERS)
    // All of its steps, each of which may take that long, and none should.
    await within(run({ bench, agent, ada, inTime }), 2 * withinMs, 'A call of the store has not ended')
  } finally {
    await bench.destroy()
  }
}

async function within<T>(step: Promise<T>, ms: number, complaint: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`after ${ms} ms: ${complaint}`)), ms)
  })
  return Promise.race([step, late]).finally(() => clearTimeout(timer))
}
