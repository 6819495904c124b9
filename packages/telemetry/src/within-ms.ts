/** Resolves when `last` has ended, whichever way, or when the time is up: what is waited for may be stuck. */
export async function withinMs(last: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([
    last.catch(() => {}),
    new Promise(resolve => {
      timer = setTimeout(resolve, ms)
    }),
  ])
  clearTimeout(timer)
}
