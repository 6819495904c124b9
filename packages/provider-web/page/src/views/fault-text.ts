import type { faultOf } from '../draft.ts'
import type { Wording } from '../languages/en.ts'

export function faultText(t: Wording, { rule, count }: NonNullable<ReturnType<typeof faultOf>>): string {
  return rule === 'least' ? t.atLeast(count) : t.atMost(count)
}
