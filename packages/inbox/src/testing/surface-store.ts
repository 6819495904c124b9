import { MemoryStore } from '../memory-store.ts'
import type { InboxRequest } from '../request.ts'
import type { ListPage, ListQuery, SettleCommand, SettleResult } from '../store.ts'

/** The store of the host a surface is attached to: it hears of others late, and knows what would have been settled. */
export class SurfaceStore extends MemoryStore {
  private readonly commands = new Map<string, Set<string>>()
  private readonly kept = new Set<() => void>()
  private isKeeping = false
  private isAway = false

  override settle(command: SettleCommand): Promise<SettleResult> {
    const commands = this.commands.get(command.id) ?? new Set()
    this.commands.set(command.id, commands.add(command.settlement.commandId))
    return super.settle(command)
  }

  override watch(wake: () => void): () => void {
    return super.watch(() => {
      if (this.isKeeping) this.kept.add(wake)
      else wake()
    })
  }

  override list(query: ListQuery): Promise<ListPage> {
    return this.isAway ? Promise.reject(new Error('the database is away')) : super.list(query)
  }

  override get(id: string): Promise<InboxRequest | undefined> {
    return this.isAway ? Promise.reject(new Error('the database is away')) : super.get(id)
  }

  commandsFor(id: string): number {
    return this.commands.get(id)?.size ?? 0
  }

  keepNews(): () => void {
    this.isKeeping = true
    return () => {
      this.isKeeping = false
      for (const wake of this.kept) wake()
      this.kept.clear()
    }
  }

  /** Lets no request be read, until the returned function is called. The log still can be. */
  goAway(): () => void {
    this.isAway = true
    return () => {
      this.isAway = false
    }
  }
}
