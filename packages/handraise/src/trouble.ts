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

function describe(value: unknown): string {
  return value instanceof Error ? `${value.name}: ${value.message}` : String(value)
}
