import { question } from './surface-cases-shown.ts'
import { quiet, type SurfaceScene, type SurfaceSceneCase } from './surface-scene.ts'
import type { SurfaceSight } from './surface-sight.ts'

const ON_GAP = 'Go on from the cursor of the last event: all that came after it is told from there, in order'
const ON_LOSS =
  'A cursor may be forgotten: then list anew, show what is new in the list, and take down what is not in it any more'
const ON_FAILURE =
  'A store may fail just when the log was lost: try again until what is pending could be listed, and then go on'
const NEVER_SHOWN =
  'An opening may be told of late, with the settlement in the request already, and a settlement of what was never shown: pass over both'

/** What happened while the surface could not hear of it. */
export const GAP_CASES: readonly SurfaceSceneCase[] = [
  {
    name: 'catches up with news that come late',
    async run(scene) {
      const { sight, gone, stays } = await standing(scene)
      const tell = scene.keepNews()
      const later = await changed(scene, gone)
      tell()
      await sees(scene, sight, stays, later, ON_GAP)
    },
  },
  {
    name: 'shows nothing that was settled before it could be shown',
    async run(scene) {
      const { open, attach, settle, keepNews } = scene
      const sight = await attach()
      const tell = keepNews()
      for (const text of ['Quick?', 'Quicker?']) await settle(await open([question(text)]))
      tell()
      await scene.inbox.caughtUp()
      const now = await open([question('And now?')])
      await sight.untilShows([now], NEVER_SHOWN)
      await quiet()
      await sight.untilShows([now], NEVER_SHOWN)
    },
  },
  {
    name: 'shows what is pending anew when the log was lost',
    async run(scene) {
      const { sight, gone, stays } = await standing(scene)
      const tell = scene.keepNews()
      const later = await changed(scene, gone)
      await scene.loseLog()
      tell()
      await sees(scene, sight, stays, later, ON_LOSS)
    },
  },
  {
    name: 'takes down what was settled and forgotten while the log was lost',
    async run(scene) {
      const { sight, gone, stays } = await standing(scene)
      const tell = scene.keepNews()
      const later = await changed(scene, gone)
      await scene.forgetSettled()
      tell()
      await sees(scene, sight, stays, later, ON_LOSS)
    },
  },
  {
    name: 'goes on after a store that failed while the log was lost',
    async run(scene) {
      const { sight, gone, stays } = await standing(scene)
      const tell = scene.keepNews()
      const later = await changed(scene, gone)
      await scene.loseLog()
      const mend = scene.failReads()
      tell()
      await scene.inbox.caughtUp()
      await quiet()
      mend()
      await sees(scene, sight, stays, later, ON_FAILURE)
    },
  },
  {
    name: 'follows no more often than before when the log was lost',
    async run(scene) {
      const { sight, gone, stays } = await standing(scene)
      const before = scene.followers()
      const tell = scene.keepNews()
      await scene.loseLog()
      tell()
      await scene.inbox.caughtUp()
      await quiet()
      const later = await changed(scene, gone)
      await sight.untilShows([...stays, later], ON_LOSS)
      await sight.until(
        async () => scene.followers() <= before,
        async () =>
          `${scene.followers() - before} more follow the inbox than before. One that has lost the log goes on to be told what comes after: end it before you follow anew`,
      )
    },
  },
  {
    name: 'goes on where it was when its connection comes back',
    needs: ['connection'],
    async run(scene) {
      const { sight, gone, stays } = await standing(scene)
      const mend = await sight.disconnect()
      const later = await changed(scene, gone)
      await mend()
      await sees(scene, sight, stays, later, ON_GAP)
    },
  },
  {
    name: 'shows what is pending anew when its cursor was lost while it was away',
    needs: ['connection'],
    async run(scene) {
      const { sight, gone, stays } = await standing(scene)
      const mend = await sight.disconnect()
      const later = await changed(scene, gone)
      await scene.loseLog()
      await mend()
      await sees(scene, sight, stays, later, ON_LOSS)
    },
  },
]

interface Standing {
  readonly sight: SurfaceSight
  /** Settled while the surface does not hear of it. */
  readonly gone: string
  /** Pending all the time. Nothing where one is shown at a time. */
  readonly stays: readonly string[]
}

async function standing({ open, attach, can }: SurfaceScene): Promise<Standing> {
  const sight = await attach()
  const gone = await open([question('Settled meanwhile?')])
  const stays = can('sideBySide') ? [await open([question('Pending all the time?')])] : []
  await sight.untilShows([gone, ...stays], 'Show a request when it is opened')
  return { sight, gone, stays }
}

/** Settles one, and opens another one. */
async function changed({ open, settle }: SurfaceScene, gone: string): Promise<string> {
  await settle(gone)
  return open([question('Opened meanwhile?')])
}

async function sees(
  { open, settle }: SurfaceScene,
  sight: SurfaceSight,
  stays: readonly string[],
  later: string,
  advice: string,
): Promise<void> {
  await sight.untilShows([...stays, later], advice)
  await settle(later)
  await sight.untilShows(stays, `What was missed is shown, but not taken down. ${advice}`)
  const last = await open([question('And after that?')])
  await sight.untilShows(
    [...stays, last],
    `What was missed is shown, but nothing that is opened later. ${advice}`,
  )
}
