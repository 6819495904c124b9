import { visibleLine } from '@handraise/user-questions/types'
import type { Context } from 'cordis'

/** Hands over, as a line each, what goes wrong in what nobody waits for. */
export function onTrouble(ctx: Context, tell: (line: string) => void): void {
  ctx.logger.exporter({
    export({ type, args }) {
      if (type === 'error' || type === 'warn') tell(`${visibleLine(args.map(describe).join(' '))}\n`)
    },
  })
}

/**
 * The same from when the returned function is called, what went wrong before included. A command that fails before then ends
 * with that alone.
 */
export function holdTrouble(ctx: Context, tell: (line: string) => void): () => void {
  const held: string[] = []
  let told = (line: string): void => void held.push(line)
  onTrouble(ctx, line => told(line))
  return () => {
    told = tell
    held.forEach(tell)
  }
}

function describe(value: unknown): string {
  return value instanceof Error ? `${value.name}: ${value.message}` : String(value)
}
