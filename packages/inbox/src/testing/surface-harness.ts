import type { Answer, Outcome } from '@handraise/user-questions/types'
import type { Context } from 'cordis'
import type {} from '../service.ts'

/** What a surface may be unable to do. */
export type SurfaceAbility =
  /** Showing several requests at once; without it, it shows them one after the other. */
  | 'sideBySide'
  /** Text of the person's own, in place of labels and beside them. */
  | 'freeText'
  /** Taking a refusal to answer, and telling it from a dismissal. */
  | 'decline'
  /** Telling the inbox that a person has begun to answer. */
  | 'engage'
  /** Telling how a request ended that was settled elsewhere. */
  | 'ending'
  /** Telling where it was settled. */
  | 'winner'
  /** Counting as a place where somebody could see a request. */
  | 'presence'
  /** A connection to the inbox that may break; one in the host's own process has none. */
  | 'connection'

/** How the suite gets at a surface. */
export interface SurfaceHarness {
  /**
   * Attaches a fresh surface to the inbox of a host, `ctx.inbox`, with a person before it. Resolves when it is there; what is
   * pending may show a little later.
   */
  attach(ctx: Context): AttachedSurface | Promise<AttachedSurface>
  /** The session whose requests it shows, where it does not show all. Default: the one without a name, ''. */
  readonly session?: string | undefined
  /** What this surface cannot do, each with the reason. Cases that need it are left out. */
  readonly lacks?: Readonly<Partial<Record<SurfaceAbility, string>>> | undefined
  /** How long a step may take before a case fails, in milliseconds. Default 5,000. */
  readonly withinMs?: number | undefined
  /** How many pending requests a surface must show all of. Default 1,200. */
  readonly many?: number | undefined
}

/** A surface that is attached, as the person before it sees and uses it. */
export interface AttachedSurface {
  /** What waits for the person there now, each as often as they see it. */
  shown(): readonly ShownRequest[] | Promise<readonly ShownRequest[]>
  /** The person answers. Resolves with what they are told became of it. */
  answer(id: string, answers: readonly Answer[]): Promise<SurfaceResult>
  /** The person says no to answering. Needed unless `decline` is lacking. */
  decline?(id: string): Promise<SurfaceResult>
  /** The person begins to answer. Needed unless `engage` is lacking. */
  engage?(id: string): void | Promise<void>
  /** What the person is told of how it ended; nothing before. Needed unless `ending` is lacking. */
  ended?(id: string): ShownEnding | undefined | Promise<ShownEnding | undefined>
  /** Breaks the connection, as a network does. Resolves with what mends it. Needed unless `connection` is lacking. */
  disconnect?(): Promise<() => void | Promise<void>>
  /** Takes the surface away, and frees what it holds. Called once. */
  detach(): void | Promise<void>
}

export interface ShownRequest {
  readonly id: string
  /** The text of its first question, as the person reads it. */
  readonly question: string
}

export interface ShownEnding {
  readonly outcome: Outcome
  /** Where it was settled, such as `terminal`. */
  readonly surface?: string | undefined
}

/** What became of what the person decided. */
export type SurfaceResult =
  | { readonly result: 'settled' }
  /** Somebody had settled it before. */
  | { readonly result: 'late'; readonly ended?: ShownEnding | undefined }
