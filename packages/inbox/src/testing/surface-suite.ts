import { checkHarness } from '@handraise/user-questions/testing'
import { ANSWERED_CASES } from './surface-cases-answered.ts'
import { GAP_CASES } from './surface-cases-gaps.ts'
import { SHOWN_CASES } from './surface-cases-shown.ts'
import type { SurfaceAbility, SurfaceHarness } from './surface-harness.ts'
import { withSurfaceScene, type SurfaceSceneCase } from './surface-scene.ts'

/** One promise of a surface. `run` rejects when the surface breaks it. */
export interface SurfaceCase {
  readonly name: string
  readonly run: () => Promise<void>
}

const CASES: readonly SurfaceSceneCase[] = [...SHOWN_CASES, ...ANSWERED_CASES, ...GAP_CASES]

const ABILITIES: Readonly<Record<SurfaceAbility, true>> = {
  sideBySide: true,
  freeText: true,
  decline: true,
  engage: true,
  ending: true,
  winner: true,
  presence: true,
  connection: true,
}

/**
 * What holds for every surface, one case a promise, free of any test framework:
 *
 *     for (const { name, run } of surfaceSuite(harness)) test(name, run)
 *
 * Throws a `TypeError` that says what is wrong with a harness that is none.
 */
export function surfaceSuite(harness: SurfaceHarness): SurfaceCase[] {
  checkHarness('surfaceSuite', harness, {
    members: { attach: 'attaches a fresh surface to the inbox of the given host' },
    abilities: Object.keys(ABILITIES),
  })
  return CASES.filter(({ needs = [] }) => !needs.some(ability => harness.lacks?.[ability] !== undefined)).map(
    ({ name, run }) => ({
      name,
      run: () => withSurfaceScene(harness, run),
    }),
  )
}
