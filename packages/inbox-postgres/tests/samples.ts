import type { OpenCommand, SettleCommand } from '@handraise/inbox'

export const START = 1_700_000_000_000

export function opening(id: string, parts: Partial<OpenCommand['request']> = {}): OpenCommand {
  return {
    request: { id, kind: 'sample', payload: { about: id }, session: '', openedAt: START, ...parts },
    digest: `digest of ${id}`,
  }
}

export function settling(id: string): SettleCommand {
  return {
    id,
    settlement: { outcome: 'answered', answer: 'yes', commandId: `command of ${id}`, settledAt: START + 1 },
    digest: `digest of the command of ${id}`,
  }
}

export function range(count: number, prefix = 'request'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
}
