import { setTimeout } from 'node:timers/promises'

/** How long a page that is open may take to show the end, in milliseconds. */
const LONGEST_MS = 1_500
const LOOK_EVERY_MS = 25

/** Resolves when no page is open any more, at once if none is, and after 1.5 s at the latest. */
export async function linger(server: { viewers(): number }): Promise<void> {
  const latest = performance.now() + LONGEST_MS
  while (server.viewers() > 0 && performance.now() < latest) await setTimeout(LOOK_EVERY_MS)
}
