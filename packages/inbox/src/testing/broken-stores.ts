import { BROKEN_DEADLINES } from './broken-deadlines.ts'
import { BROKEN_DURABILITY } from './broken-durability.ts'
import { BROKEN_LISTS } from './broken-list.ts'
import { BROKEN_LOGS } from './broken-log.ts'
import { BROKEN_OPENS } from './broken-open.ts'
import { BROKEN_RECORDS } from './broken-records.ts'
import { BROKEN_SETTLES } from './broken-settle.ts'
import type { BrokenStore } from './broken-store.ts'

/** At least one for each case of the suite. */
export const brokenStores: readonly BrokenStore[] = [
  ...BROKEN_OPENS,
  ...BROKEN_SETTLES,
  ...BROKEN_LISTS,
  ...BROKEN_LOGS,
  ...BROKEN_DEADLINES,
  ...BROKEN_RECORDS,
  ...BROKEN_DURABILITY,
]
