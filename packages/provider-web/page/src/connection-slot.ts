/**
 * A browser opens six connections to a server at most, for all its pages together, and a page that listens holds one for
 * good. Five pages may; one connection is left for whatever any page lists or sends.
 */
const SLOTS = 5

/** Takes a slot if one is free. Returns what gives it back. */
export async function takeSlot(): Promise<(() => void) | undefined> {
  // Absent where a page is served neither from this machine nor over TLS.
  const locks = navigator.locks as LockManager | undefined
  if (locks === undefined) return () => {}
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const release = await take(locks, `handraise:${slot}`)
    if (release !== undefined) return release
  }
  return undefined
}

function take(locks: LockManager, name: string): Promise<(() => void) | undefined> {
  return new Promise(resolve => {
    const held = (lock: Lock | null): Promise<void> | undefined => {
      if (lock !== null) return new Promise<void>(release => resolve(release))
      resolve(undefined)
    }
    locks.request(name, { ifAvailable: true }, held).catch(() => resolve(undefined))
  })
}
