import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { clockTime, useWording } from '../language.ts'

/** How long there is left, by the server's clock. */
export function Deadline({ at, aheadMs }: { at: number; aheadMs: number }): VNode {
  const t = useWording()
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  const left = at - (now + aheadMs)
  return (
    <span role="timer" class={left < 60_000 ? 'deadline soon' : 'deadline'}>
      {left > 0 ? t.timeLeft(clockTime(left)) : t.timeUp}
    </span>
  )
}
