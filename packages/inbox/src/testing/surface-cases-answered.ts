import assert from 'node:assert/strict'
import type { Answer, Question } from '@handraise/user-questions/types'
import type { OpenOptions } from '../inbox.ts'
import { answersOf } from '../questions-kind.ts'
import { question } from './surface-cases-shown.ts'
import { ELSEWHERE, quiet, type SurfaceScene, type SurfaceSceneCase } from './surface-scene.ts'
import type { SurfaceSight } from './surface-sight.ts'

const CHECKS: Question = {
  id: 'checks',
  question: 'Which checks?',
  multiSelect: true,
  options: [{ label: 'Lint' }, { label: 'Types, strict' }, { label: 'Tests' }],
}

const ON_ANSWERING =
  'Send what the person decided with inbox.decide(), or the client, and resolve once it is settled'
const BY_ITSELF = 'Only a person, or a rule they have made, settles a request'

/** What a person does there, and what they do not. */
export const ANSWERED_CASES: readonly SurfaceSceneCase[] = [
  {
    name: 'hands the chosen labels on word for word',
    async run(scene) {
      for (const label of ['SQLite (Recommended)', 'Yes, always'])
        await assertAnswered(scene, [question('Which store?')], [{ id: 'db', selected: [label] }])
      await assertAnswered(scene, [CHECKS], [{ id: 'checks', selected: ['Lint', 'Types, strict'] }])
    },
  },
  {
    name: 'hands text on word for word',
    needs: ['freeText'],
    async run(scene) {
      const custom = 'Wait: 1, 2; "explain" the difference, première 選択肢 🚀'
      await assertAnswered(
        scene,
        [{ id: 'name', question: 'What name?' }],
        [{ id: 'name', selected: [], custom }],
      )
    },
  },
  {
    name: 'answers the request that was meant, and no other',
    needs: ['sideBySide'],
    async run(scene) {
      const { open, attach } = scene
      const sight = await attach()
      const [one, two] = [await open([question('The same?')]), await open([question('The same?')])] as const
      await sight.untilShows([one, two], 'Show both')
      await sight.answer(two, [{ id: 'db', selected: ['Postgres'] }])
      await scene.assertPending(one, 'The other one was answered: keep requests apart by their id')
      await scene.untilSettled(two, ON_ANSWERING)
      await sight.untilShows([one], 'Take down what was answered')
    },
  },
  {
    name: 'settles a request with one command',
    async run(scene) {
      const { sight, id } = await shownOne(scene)
      await sight.answer(id, [{ id: 'db', selected: ['Postgres'] }])
      await scene.untilSettled(id, ON_ANSWERING)
      await quiet()
      assert.equal(
        scene.commands(id),
        1,
        `the answer was sent as ${scene.commands(id)} commands. Choose one commandId for a decision, and keep it when it is sent again`,
      )
    },
  },
  {
    name: 'records a refusal to answer as declined',
    needs: ['decline'],
    async run(scene) {
      const { sight, id } = await shownOne(scene)
      assert.equal((await sight.decline(id)).result, 'settled')
      const { settlement } = await scene.untilSettled(id, ON_ANSWERING)
      assert.equal(
        settlement.outcome,
        'declined',
        `a refusal to answer is recorded as ${settlement.outcome}. Decide { outcome: 'declined' }`,
      )
    },
  },
  {
    name: 'says who was faster when an answer comes late',
    async run(scene) {
      const { sight, id } = await shownOne(scene)
      const news = scene.keepNews()
      await scene.settle(id)
      const answered = sight.answer(id, [{ id: 'db', selected: ['Postgres'] }])
      const told = await answered.finally(news)
      const advice =
        'ALREADY_SETTLED has the request as it was settled in error.details: tell the person of that'
      assert.equal(told.result, 'late', `the person is told that their answer counts. ${advice}`)
      if (told.result === 'late' && scene.can('winner')) {
        const expected = { outcome: 'answered', surface: ELSEWHERE }
        const { outcome, surface } = told.ended ?? {}
        const said = `the person is told ${JSON.stringify(told.ended)}, it was ${JSON.stringify(expected)}`
        assert.deepEqual({ outcome, surface }, expected, `${said}. ${advice}`)
      }
      const { settlement } = await scene.untilSettled(id, '')
      assert.equal(settlement.surface, ELSEWHERE, 'what was settled is settled another time')
      await sight.untilShows([], 'Take down what turned out to be settled')
    },
  },
  {
    name: 'tells the inbox that a person has begun to answer',
    needs: ['engage'],
    async run(scene) {
      const { open, attach, inbox } = scene
      const id = await open([question('Before the deadline?')], { deadlineAt: Date.now() + 3_600_000 })
      const sight = await attach()
      await sight.untilShows([id], 'Show it')
      await sight.engage(id)
      await sight.until(
        async () => (await inbox.get(id)).deadlineAt === undefined,
        async () =>
          'the deadline still applies. Call inbox.engage(id), or the client, when the person begins to answer',
      )
    },
  },
  {
    name: 'settles nothing for a person who does nothing',
    async run(scene) {
      const { id } = await shownOne(scene, { openedAt: Date.now() - 3_600_000 })
      await quiet()
      await scene.assertPending(id, BY_ITSELF)
    },
  },
  {
    name: 'leaves what is pending as it is when it is detached',
    async run(scene) {
      const { sight, id } = await shownOne(scene)
      await sight.detach()
      await quiet()
      await scene.assertPending(id, `${BY_ITSELF}: it goes on waiting on other surfaces`)
    },
  },
  {
    name: 'leaves nobody listening when it is detached',
    async run(scene) {
      const before = scene.followers()
      const { sight } = await shownOne(scene)
      await sight.detach()
      await sight.until(
        async () => scene.followers() <= before,
        async () =>
          `${scene.followers() - before} still follow the inbox for it. Call what attachSurface(), or follow(), resolved with, and close connections`,
      )
    },
  },
]

async function shownOne(
  { open, attach }: SurfaceScene,
  options: Partial<OpenOptions> = {},
): Promise<{ sight: SurfaceSight; id: string }> {
  const sight = await attach()
  const id = await open([question('Which store?')], options)
  await sight.untilShows([id], 'Show a request when it is opened')
  return { sight, id }
}

const sights = new WeakMap<SurfaceScene, Promise<SurfaceSight>>()

async function assertAnswered(
  scene: SurfaceScene,
  questions: readonly Question[],
  answers: readonly Answer[],
): Promise<void> {
  const attaching = sights.get(scene) ?? scene.attach()
  sights.set(scene, attaching)
  const sight = await attaching
  const id = await scene.open(questions)
  await sight.untilShows([id], 'Show a request when it is opened')
  const { result } = await sight.answer(id, answers)
  assert.equal(result, 'settled', `the person is told that their answer was late. ${ON_ANSWERING}`)
  const { settlement } = await scene.untilSettled(id, ON_ANSWERING)
  assert.equal(settlement.outcome, 'answered', `an answer is recorded as ${settlement.outcome}`)
  const kept = answersOf(settlement.answer).map(({ by: _, ...answer }) => answer)
  const said = `the inbox has ${JSON.stringify(kept)}, the person answered ${JSON.stringify(answers)}`
  assert.deepEqual(kept, answers, `${said}. Hand on what they chose and wrote as it is`)
  const { surface = '', by } = settlement
  assert.notEqual(
    surface,
    '',
    'nobody can tell where it was answered. Give the surface a name in the command',
  )
  assert.equal(by, 'user', `it is recorded as answered by ${by}. A person did: leave out by, or give 'user'`)
  await sight.untilShows([], 'Take down what was answered')
}
