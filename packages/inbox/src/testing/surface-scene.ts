import assert from 'node:assert/strict'
import { UserQuestionService } from '@handraise/user-questions'
import { checkMembers } from '@handraise/user-questions/testing'
import type { Question } from '@handraise/user-questions/types'
import { Context } from 'cordis'
import type { Decision } from '../decision.ts'
import { Inbox, type OpenOptions } from '../inbox.ts'
import { MemoryMedium, MemoryStore } from '../memory-store.ts'
import { QUESTIONS, toQuestionsPayload } from '../questions-kind.ts'
import { isSettled, type SettledRequest } from '../request.ts'
import { InboxService } from '../service.ts'
import { settling } from './samples.ts'
import { turn, within } from './scene.ts'
import { SurfaceSight } from './surface-sight.ts'
import { SurfaceStore } from './surface-store.ts'
import type { AttachedSurface, SurfaceAbility, SurfaceHarness } from './surface-harness.ts'

/** How long attaching may take at least, where a step may take less, in milliseconds: hosts and servers start with it. */
const ATTACH_MS = 5_000
/** How long nothing may happen, in milliseconds. */
const QUIET_MS = 100

/** Where what is settled elsewhere is settled. */
export const ELSEWHERE = 'elsewhere'

/** What a case plays in: a host with an inbox, another host on the same medium, and the surface. */
export interface SurfaceScene {
  readonly ctx: Context
  /** The inbox of the host that the surface is attached to. */
  readonly inbox: Inbox
  readonly many: number
  /** Whose requests the surface shows. */
  readonly session: string
  readonly can: (ability: SurfaceAbility) => boolean
  /** Opens a request of these questions and returns its id. */
  open(questions: readonly Question[], options?: Partial<OpenOptions>): Promise<string>
  /** Settles a request from the other host. */
  settle(id: string, decision?: Decision): Promise<void>
  /** Ends a request whose asker went away, from the other host. */
  withdraw(id: string): Promise<void>
  /** Says from the other host that a person has begun to answer. */
  engage(id: string): Promise<void>
  /** Attaches the surface. Once in a case. */
  attach(): Promise<SurfaceSight>
  /** Keeps from the host what happens in the other one, until the returned function is called. */
  keepNews(): () => void
  /** Forgets a part of the log, so that every cursor from before is lost. */
  loseLog(): Promise<void>
  /** Lets the host read no request, until the returned function is called. */
  failReads: () => () => void
  /** Forgets all that is settled, as a store does after a while, and with it the log of it. */
  forgetSettled(): Promise<void>
  /** The request as settled, once it is. */
  untilSettled(id: string, advice: string): Promise<SettledRequest>
  assertPending(id: string, because: string): Promise<void>
  /** How many different commands would have settled the request, by way of this host. */
  commands(id: string): number
  /** How many follow the inbox of the host. */
  followers(): number
}

export interface SurfaceSceneCase {
  readonly name: string
  readonly needs?: readonly SurfaceAbility[]
  readonly run: (scene: SurfaceScene) => Promise<unknown>
}

const MEMBERS = {
  shown: 'gives what waits for the person now, as a list of { id, question }',
  answer: 'answers as the person does, and resolves with what they are told became of it',
  detach: 'takes the surface away',
}
const OPTIONAL_MEMBERS = {
  decline: ['decline', 'says no to answering, as the person does'],
  engage: ['engage', 'begins to answer, as the person does'],
  ended: ['ending', 'gives what the person is told of how a request ended'],
  disconnect: ['connection', 'breaks the connection and resolves with a function that mends it'],
} as const

export async function withSurfaceScene(harness: SurfaceHarness, run: SurfaceSceneCase['run']): Promise<void> {
  const { session = '', withinMs = 5_000, many = 1_200 } = harness
  const reported: unknown[] = []
  const medium = new MemoryMedium()
  const store = new SurfaceStore(medium)
  const ctx = new Context()
  ctx.logger.exporter({ export: ({ args }) => void reported.push(...args) })
  await ctx.plugin(UserQuestionService)
  // Whoever asks hears at once when nobody could see it.
  const host = await ctx.plugin(InboxService, { store, viewer: 'require' })
  const inbox = ctx.inbox.core
  const elsewhere = new Inbox({ store: new MemoryStore(medium) })
  await elsewhere.start()
  const followers = countFollowers(inbox)
  const can = (ability: SurfaceAbility): boolean => harness.lacks?.[ability] === undefined
  let attached: AttachedSurface | undefined
  let sight: SurfaceSight | undefined
  try {
    await run({
      ctx,
      inbox,
      many,
      session,
      can,
      followers,
      commands: id => store.commandsFor(id),
      async open(questions, options = {}) {
        const payload = toQuestionsPayload(questions)
        const { request } = await elsewhere.open({ kind: QUESTIONS, payload, session, ...options })
        return request.id
      },
      async settle(id, decision) {
        const made = decision ?? { outcome: 'answered', answer: await anyAnswer(elsewhere, id) }
        await elsewhere.decide(id, made, { commandId: crypto.randomUUID(), surface: ELSEWHERE })
      },
      withdraw: id => elsewhere.withdraw(id, 'the asker went away'),
      engage: id => elsewhere.engage(id),
      async attach() {
        attached = await within(
          (async () => harness.attach(ctx))(),
          Math.max(withinMs, ATTACH_MS),
          'attach()',
        )
        checkMembers('surfaceSuite: what attach() gave', attached, MEMBERS)
        for (const [member, [ability, purpose]] of Object.entries(OPTIONAL_MEMBERS)) {
          const what = `surfaceSuite: what attach() gave (unless harness.lacks.${ability} says why it cannot)`
          if (can(ability)) checkMembers(what, attached, { [member]: purpose })
        }
        sight = new SurfaceSight(attached, withinMs)
        return sight
      },
      keepNews: () => store.keepNews(),
      async loseLog() {
        const { id } = await forgottenRequest(elsewhere)
        await elsewhere.store.settle(settling(id, { settledAt: 1 }))
        await elsewhere.store.prune(2)
      },
      failReads: () => store.goAway(),
      async forgetSettled() {
        await elsewhere.store.prune(Number.MAX_SAFE_INTEGER)
      },
      async untilSettled(id, advice) {
        const late = AbortSignal.timeout(withinMs)
        return elsewhere.watch(id, late).catch((error: unknown) => {
          if (!late.aborted) throw error
          assert.fail(`the request is still pending after ${withinMs} ms. ${advice}`)
        })
      },
      async assertPending(id, because) {
        const request = await elsewhere.get(id)
        if (!isSettled(request)) return
        const { outcome, surface } = request.settlement
        assert.fail(`the request was settled: ${outcome}, by ${surface ?? 'nobody'}. ${because}`)
      },
    })
  } catch (error) {
    throw withReported(error, reported)
  } finally {
    try {
      if (sight?.detached !== true)
        await within((async () => attached?.detach?.())(), withinMs, 'detach() of the surface')
    } finally {
      await host.dispose()
      await elsewhere.close()
    }
  }
}

/** Lets what must not happen happen. */
export async function quiet(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, QUIET_MS))
  // After what has its turn already, however late the timer was.
  await turn()
}

async function forgottenRequest(inbox: Inbox): Promise<{ id: string }> {
  const payload = toQuestionsPayload([{ id: 'old', question: 'Who remembers this?' }])
  return (await inbox.open({ kind: QUESTIONS, payload, session: 'of nobody', openedAt: 0 })).request
}

async function anyAnswer(inbox: Inbox, id: string): Promise<unknown> {
  const request = await inbox.get(id)
  const questions = inbox.kindOf(request)?.asQuestions(request.payload) ?? []
  return { answers: questions.map(question => ({ id: question.id, selected: [] })) }
}

function countFollowers(inbox: Inbox): () => number {
  const live = new Set<object>()
  const follow = inbox.follow.bind(inbox)
  inbox.follow = async (follower, cursor) => {
    // Each following counts, also of one and the same follower.
    const following = { entry: follower.entry.bind(follower), lost: follower.lost.bind(follower) }
    live.add(following)
    const stop = await follow(following, cursor)
    return () => {
      live.delete(following)
      stop()
    }
  }
  return () => live.size
}

// A surface may have failed where nobody waits for it, and that is then why.
function withReported(error: unknown, reported: readonly unknown[]): unknown {
  if (error instanceof Error && reported.length > 0)
    error.message += `\nMeanwhile the host was told of: ${reported.map(String).join('; ')}`
  return error
}
