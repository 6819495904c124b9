import { issuesOfZod, type Answer, type Issue } from '@handraise/user-questions/types'
import { z } from 'zod'
import {
  pendingPromptSchema,
  threadItemSchema,
  type PromptKind,
  type PromptQuestion,
  type ThreadItem,
} from './items.ts'
import { readOrigin, type Origin } from './origin.ts'

/** A prompt of this worker without a resolution. */
export interface OpenPrompt {
  readonly promptId: string
  readonly kind: PromptKind
  readonly questions: readonly PromptQuestion[]
  /** Of the item that asks what is missing now: only what comes after it answers. */
  readonly position: number
  readonly item: ThreadItem
  /** Absent in a prompt of another implementation. */
  readonly origin: Origin | undefined
  /** What was answered since, by a reply that leaves a question to be asked: that is to be posted. */
  readonly toAsk?: readonly Answer[] | undefined
  /** It is not in the thread any more, which was put in place of the one it was posted in: it is to be posted again. */
  readonly isLost?: boolean | undefined
  /** The request in the inbox, once it was looked for. */
  readonly requestId?: string | undefined
  /** What it was answered with here, for a kind whose own words are not answers to questions. */
  readonly given?: readonly Answer[] | undefined
}

export type PromptChange =
  | { readonly change: 'opened'; readonly prompt: OpenPrompt }
  /** It says that it asks, and cannot be read as a prompt. */
  | { readonly change: 'unreadable'; readonly issues: readonly Issue[] }
  | { readonly change: 'resolved'; readonly promptId: string; readonly prompt: OpenPrompt | undefined }

const resolvedSchema = z.looseObject({
  type: z.literal('pending_prompt_resolved'),
  prompt: z.looseObject({ prompt_id: z.string() }),
})

const pendingSchema = z.looseObject({ type: z.literal('pending_prompt') })

/** What the prompts come to at some place of the thread, as plain data. */
export const openPromptsSchema = z.object({
  open: z.array(
    z.object({
      item: threadItemSchema,
      toAsk: z.array(z.unknown()).optional(),
      isLost: z.boolean().optional(),
    }),
  ),
  resolved: z.object({ position: z.number(), promptId: z.string() }).optional(),
})

export type OpenPromptsState = z.infer<typeof openPromptsSchema>

/** Which prompts are open in the thread, by what this worker posted in it. */
export class OpenPrompts {
  private readonly open = new Map<string, OpenPrompt>()
  /** The last resolution: a prompt from before it that is not open comes again, and is over. */
  private resolved: { readonly position: number; readonly promptId: string } | undefined

  get size(): number {
    return this.open.size
  }

  /** In the order of the thread. */
  all(): OpenPrompt[] {
    return [...this.open.values()].toSorted((a, b) => a.position - b.position)
  }

  get(promptId: string): OpenPrompt | undefined {
    return this.open.get(promptId)
  }

  /** The prompt that a reply at this position is a reply to: the last one before it. */
  before(position: number): OpenPrompt | undefined {
    return this.all().findLast(prompt => prompt.isLost !== true && prompt.position < position)
  }

  /** Takes an item of this worker; what is neither prompt nor resolution changes nothing. `posted`: just now, by this process. */
  take(item: ThreadItem, posted = false): PromptChange | undefined {
    const resolution = resolvedSchema.safeParse(item.metadata).data
    if (resolution !== undefined) return this.close(resolution.prompt.prompt_id, item.position)
    if (!pendingSchema.safeParse(item.metadata).success) return undefined
    const parsed = pendingPromptSchema.safeParse(item.metadata)
    if (!parsed.success) return { change: 'unreadable', issues: issuesOfZod(parsed.error) }
    const pending = parsed.data
    const { prompt_id: promptId, kind, questions } = pending.prompt
    const known = this.open.get(promptId)
    if (known === undefined && !posted && this.isOver(promptId, item.position)) return undefined
    const origin = readOrigin(pending.handraise)
    // The same question again is the same prompt, which could be answered from the first on.
    if (known !== undefined && known.isLost !== true && stageOf(origin) <= stageOf(known.origin))
      return undefined
    const { requestId, given } = known ?? {}
    const prompt = { promptId, kind, questions, position: item.position, item, origin, requestId, given }
    this.open.set(promptId, prompt)
    return { change: 'opened', prompt }
  }

  /** Notes what is known of a prompt besides its items. */
  note(promptId: string, known: Partial<Pick<OpenPrompt, 'toAsk' | 'requestId' | 'given' | 'isLost'>>): void {
    const prompt = this.open.get(promptId)
    if (prompt !== undefined) this.open.set(promptId, { ...prompt, ...known })
  }

  save(): OpenPromptsState {
    return {
      open: this.all().map(({ item, toAsk, isLost }) => ({
        item: threadItemSchema.parse(item),
        ...(isLost === undefined ? {} : { isLost }),
        ...(toAsk === undefined ? {} : { toAsk: [...toAsk] }),
      })),
      ...(this.resolved === undefined ? {} : { resolved: this.resolved }),
    }
  }

  restore({ open, resolved }: OpenPromptsState): void {
    for (const { item, toAsk, isLost } of open) {
      const taken = this.take(item, true)
      if (taken?.change !== 'opened') continue
      const known = { ...(toAsk && { toAsk: toAsk as Answer[] }), ...(isLost && { isLost }) }
      this.note(taken.prompt.promptId, known)
    }
    this.resolved = resolved
  }

  /**
   * Takes over what was open in a thread that this one was put in place of, after all of this one was read. What is not
   * here is to be posted again, but for what is `over` here.
   */
  restoreLost({ open }: OpenPromptsState, over: ReadonlySet<string>): void {
    const before = new OpenPrompts()
    before.restore({ open })
    for (const prompt of before.all())
      if (!this.open.has(prompt.promptId) && !over.has(prompt.promptId))
        this.open.set(prompt.promptId, { ...prompt, isLost: true })
  }

  private close(promptId: string, position: number): PromptChange {
    const prompt = this.open.get(promptId)
    this.open.delete(promptId)
    if (this.resolved === undefined || this.resolved.position <= position)
      this.resolved = { position, promptId }
    return { change: 'resolved', promptId, prompt }
  }

  private isOver(promptId: string, position: number): boolean {
    if (this.resolved === undefined) return false
    return (
      position < this.resolved.position ||
      (position === this.resolved.position && promptId === this.resolved.promptId)
    )
  }
}

/** How far a prompt has come: all questions at once, then one by one. */
function stageOf(origin: Origin | undefined): number {
  return origin?.kept === undefined ? -1 : origin.kept.length
}
