import { checkHarness } from '@handraise/user-questions/testing'
import { type SceneCase, withScene } from './scene.ts'
import type { StoreAbility, StoreHarness } from './store-harness.ts'
import { DEADLINE_CASES } from './suite-deadlines.ts'
import { DURABILITY_CASES } from './suite-durability.ts'
import { LIST_CASES } from './suite-list.ts'
import { LOG_CASES } from './suite-log.ts'
import { OPEN_CASES } from './suite-open.ts'
import { RECORD_CASES } from './suite-records.ts'
import { SETTLE_CASES } from './suite-settle.ts'
import { TOGETHER_CASES } from './suite-together.ts'

/** One promise of the contract. `run` rejects when the store breaks it. */
export interface StoreCase {
  readonly name: string
  readonly run: () => Promise<void>
}

const CASES: readonly SceneCase[] = [
  ...OPEN_CASES,
  ...SETTLE_CASES,
  ...LIST_CASES,
  ...LOG_CASES,
  ...DEADLINE_CASES,
  ...RECORD_CASES,
  ...TOGETHER_CASES,
  ...DURABILITY_CASES,
]

const ABILITIES: Readonly<Record<StoreAbility, true>> = { manyStores: true, crash: true }

/**
 * The contract of `InboxStore`, one case a promise, free of any test framework:
 *
 *     for (const { name, run } of storeSuite(harness)) test(name, run)
 *
 * Throws a `TypeError` that says what is wrong with a harness that is none.
 */
export function storeSuite(harness: StoreHarness): StoreCase[] {
  checkHarness('storeSuite', harness, {
    members: { create: 'prepares a fresh, empty medium' },
    abilities: Object.keys(ABILITIES),
  })
  return CASES.filter(({ needs = [] }) => !needs.some(ability => harness.lacks?.[ability] !== undefined)).map(
    ({ name, run }) => ({
      name,
      run: () => withScene(harness, run),
    }),
  )
}
