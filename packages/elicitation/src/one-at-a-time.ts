/** Runs a task when its turn has come. What is aborted before is never run, and rejects at once with the signal's reason. */
export type InTurn = <T>(signal: AbortSignal, task: () => Promise<T>) => Promise<T>

/** A queue for one screen: tasks run one after the other, in order, and one that fails holds up nobody. */
export function oneAtATime(): InTurn {
  const waiting: (() => void)[] = []
  let busy = false
  const next = (): void => {
    const start = waiting.shift()
    if (start === undefined) busy = false
    else start()
  }
  return (signal, task) =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave)
        task().then(resolve, reject).finally(next)
      }
      const leave = (): void => {
        const place = waiting.indexOf(begin)
        if (place >= 0) waiting.splice(place, 1)
        reject(signal.reason as Error)
      }
      if (signal.aborted) return reject(signal.reason as Error)
      if (busy) {
        waiting.push(begin)
        signal.addEventListener('abort', leave, { once: true })
        return
      }
      busy = true
      begin()
    })
}
