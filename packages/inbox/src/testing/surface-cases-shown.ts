import assert from 'node:assert/strict'
import { UserQuestionError, type Question } from '@handraise/user-questions/types'
import { QUESTIONS, toQuestionsPayload } from '../questions-kind.ts'
import { turn } from './scene.ts'
import type { SurfaceScene, SurfaceSceneCase } from './surface-scene.ts'
import type { SurfaceSight } from './surface-sight.ts'

export const question = (text: string): Question => ({
  id: 'db',
  question: text,
  options: [{ label: 'Postgres' }, { label: 'SQLite (Recommended)' }, { label: 'Yes, always' }],
})

const ON_ATTACHING =
  'List what is pending when the surface is attached, every page of it; attachSurface() does so by itself and calls opened() for each'
const ON_OPENING = 'Show a request when opened() is called for it, or its event comes'
const ON_SETTLING = 'Take a request down when settled() is called for it, or its event comes'

/** What is shown, and what is not. */
export const SHOWN_CASES: readonly SurfaceSceneCase[] = [
  {
    name: 'shows what was pending before it was attached',
    async run(scene) {
      const before = await scene.open([question('Settled before?')])
      await scene.settle(before)
      const lastWeek = { openedAt: Date.now() - 8 * 24 * 3_600_000 }
      const ids = [await scene.open([question('One?')], lastWeek), await scene.open([question('Two?')])]
      await seesAll(scene, await scene.attach(), ids, ON_ATTACHING)
    },
  },
  {
    name: 'shows all of what is pending, however many there are',
    needs: ['sideBySide'],
    async run({ many, open, attach }) {
      const ids: string[] = []
      for (let number = 1; number <= many; number += 1) {
        ids.push(await open([question(`Number ${number}?`)]))
        // Whatever else runs in this process is not to wait for all of them.
        if (number % 25 === 0) await turn()
      }
      await (await attach()).untilShows(ids, ON_ATTACHING)
    },
  },
  {
    name: 'shows what is opened later',
    async run(scene) {
      const sight = await scene.attach()
      await seesAll(scene, sight, [await scene.open([question('Later?')])], ON_OPENING)
      await seesAll(
        scene,
        sight,
        [await scene.open([question('Later still?')], { key: 'call-1', agent: 'agent-1' })],
        ON_OPENING,
      )
    },
  },
  {
    name: 'misses nothing that is opened while it is being attached',
    async run(scene) {
      const { open, attach } = scene
      const opening = async (): Promise<string[]> => {
        const ids: string[] = []
        for (let number = 1; number <= 20; number += 1) {
          ids.push(await open([question(`Meanwhile ${number}?`)]))
          await turn()
        }
        return ids
      }
      const [ids, sight] = await Promise.all([opening(), attach()])
      const advice = `Take the cursor first, then list, then follow from that cursor. ${ON_ATTACHING}`
      await seesAll(scene, sight, ids, advice)
    },
  },
  {
    name: 'shows a request once, however often it is told of it',
    async run({ open, attach, engage, settle, can, inbox }) {
      const id = await open([question('Before the deadline?')], { deadlineAt: Date.now() + 3_600_000 })
      const sight = await attach()
      await sight.untilShows([id], ON_OPENING)
      await engage(id)
      await inbox.caughtUp()
      const next = can('sideBySide') ? [await open([question('The next one?')])] : []
      await sight.untilShows(
        [id, ...next],
        'A change of a request that is shown already, such as engaged, shows it no second time',
      )
      await settle(id)
      await sight.untilShows(next, ON_SETTLING)
    },
  },
  {
    name: 'shows the question as it was asked',
    async run({ open, attach }) {
      const asked = 'Which *one*: <b>"a" & b</b>, or naïve 選択肢 🚀?'
      const id = await open([question(asked)])
      const sight = await attach()
      await sight.untilShows([id], ON_ATTACHING)
      const [shown] = await sight.shown()
      const advice = 'Escape what the surface takes for mark-up; do not drop or interpret it'
      assert.equal(
        shown?.question,
        asked,
        `the person reads ${JSON.stringify(shown?.question)} instead. ${advice}`,
      )
    },
  },
  {
    name: 'takes down what is settled elsewhere, in whatever way',
    async run({ open, attach, settle, withdraw }) {
      const sight = await attach()
      const endings: Array<(id: string) => Promise<void>> = [
        id => settle(id),
        id => settle(id, { outcome: 'declined' }),
        id => settle(id, { outcome: 'cancelled' }),
        id => settle(id, { outcome: 'clarified', text: 'What for?' }),
        id => withdraw(id),
      ]
      for (const end of endings) {
        const id = await open([question('To be settled elsewhere?')])
        await sight.untilShows([id], ON_OPENING)
        await end(id)
        await sight.untilShows([], ON_SETTLING)
      }
    },
  },
  {
    name: 'leaves the others up when one is settled',
    needs: ['sideBySide'],
    async run({ open, attach, settle }) {
      const sight = await attach()
      const [one, two, three] = [
        await open([question('The same?')]),
        await open([question('The same?')]),
        await open([question('The same?')]),
      ] as const
      await sight.untilShows([one, two, three], ON_OPENING)
      await settle(two)
      await sight.untilShows([one, three], `${ON_SETTLING}: that one, by its id`)
    },
  },
  {
    name: 'tells how a request ended that was settled elsewhere',
    needs: ['ending'],
    async run({ open, attach, settle, can }) {
      const sight = await attach()
      const declined = can('decline') ? ([{ outcome: 'declined' }] as const) : []
      for (const decision of [undefined, { outcome: 'cancelled' } as const, ...declined]) {
        const id = await open([question('To be told of?')])
        await sight.untilShows([id], ON_OPENING)
        await settle(id, decision)
        const told = await sight.untilTold(id, 'settled() is given the request with its settlement')
        const expected = {
          outcome: decision?.outcome ?? 'answered',
          surface: can('winner') ? 'elsewhere' : undefined,
        }
        assert.deepEqual(
          { outcome: told.outcome, surface: can('winner') ? told.surface : undefined },
          expected,
          `the person is told ${JSON.stringify(told)} of what is ${JSON.stringify(expected)}. Take it from request.settlement`,
        )
      }
    },
  },
  {
    name: 'goes on after a request of a kind that nobody knows',
    async run(scene) {
      const { open, attach, inbox } = scene
      const sight = await attach()
      const unknown = await open([], { kind: 'of-another-host', payload: { what: ['ever'] } })
      await inbox.caughtUp()
      const known = await open([question('Of a kind everybody knows?')])
      const advice = 'A kind may be registered elsewhere: leave it out or show it as it is, and go on'
      await sight.untilSees(known, advice)
      await scene.assertPending(unknown, 'What a surface cannot show, another one may')
    },
  },
  {
    name: 'counts as a place where somebody could see a request, as long as it is attached',
    needs: ['presence'],
    async run(scene) {
      const sight = await scene.attach()
      await sight.until(
        async () => !(await isRefused(scene)),
        async () =>
          'an ask still ends as if nobody could see it. Attach the surface with attachSurface(), and count in viewers()',
      )
      await sight.detach()
      await sight.until(
        () => isRefused(scene),
        async () =>
          'an ask still waits for the surface that was detached. Call what attachSurface() resolved with',
      )
    },
  },
]

/** Resolves when all of these were seen, each once. One after the other where no more than one is shown. */
async function seesAll(
  scene: SurfaceScene,
  sight: SurfaceSight,
  ids: readonly string[],
  advice: string,
): Promise<void> {
  if (scene.can('sideBySide')) {
    await sight.untilShows(ids, advice)
    for (const id of ids) await scene.settle(id)
  } else {
    for (const id of ids) {
      await sight.untilShows([id], advice)
      await scene.settle(id)
    }
  }
  await sight.untilShows([], ON_SETTLING)
}

// Whether an ask ends at once because nobody could see it.
async function isRefused({ ctx, inbox, session }: SurfaceScene): Promise<boolean> {
  const asker = new AbortController()
  const payload = toQuestionsPayload([question('Could anybody see this?')])
  let refused: boolean | undefined
  const asking = ctx.inbox.request({ kind: QUESTIONS, payload, session }, asker.signal).then(
    () => (refused = false),
    (error: unknown) => (refused ??= UserQuestionError.isInstance(error) && error.code === 'ASK_UNAVAILABLE'),
  )
  while (refused === undefined) {
    const { requests } = await inbox.list({ state: 'pending' })
    if (requests.some(({ id }) => inbox.waiting(id) > 0)) refused = false
    else await turn()
  }
  asker.abort()
  await asking
  return refused
}
