import { MemoryMedium } from '@handraise/inbox'
import type { Question } from '@handraise/user-questions'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as thread from '../src/index.ts'
import type { ThreadItem, ThreadOptions } from '../src/index.ts'
import { RoughThread } from './fixtures/rough-thread.ts'
import { DB, ManualClock, settled, startHost } from './host.ts'

/** What is said, and what it means as the answer to the one question. */
const LINES: readonly (readonly [text: string, metadata: unknown, answer: readonly string[] | undefined])[] =
  [
    ['1', undefined, ['Postgres']],
    ['SQLITE.', undefined, ['SQLite']],
    ['the small one', undefined, ['the small one']],
    ['summary', { answers: [{ question: DB.question, answer: ['SQLite'] }] }, ['SQLite']],
    ['2', { answers: [{ question: 'Another?', answer: ['Postgres'] }] }, ['SQLite']],
    ['2', { type: 'pending_prompt_resolved', prompt: { prompt_id: 'prm_x' } }, ['SQLite']],
    ['/status', undefined, undefined],
    ['', undefined, undefined],
  ]

type Step =
  | { readonly do: 'ask' }
  | {
      readonly do: 'say'
      readonly line: number
      readonly author: string
      readonly isLate: boolean
      readonly edited: boolean
    }
  | { readonly do: 'again'; readonly item: number; readonly edited: boolean }
  | { readonly do: 'deliver' }
  | { readonly do: 'fail'; readonly faults: readonly ('before' | 'after')[] }
  | { readonly do: 'restart'; readonly keepsInbox: boolean }
  | { readonly do: 'decide elsewhere' }
  | { readonly do: 'wait'; readonly ms: number }

const say = fc.record({
  do: fc.constant('say' as const),
  line: fc.nat(LINES.length - 1),
  author: fc.constantFrom('ada', 'ben', 'eve'),
  isLate: fc.boolean(),
  edited: fc.nat(5).map(count => count === 0),
})
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ do: 'ask' } as const) },
  { weight: 6, arbitrary: say },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('again' as const), item: fc.nat(30), edited: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'deliver' } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      faults: fc.array(fc.constantFrom('before' as const, 'after' as const), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart' as const), keepsInbox: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'decide elsewhere' } as const) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(5_000) }) },
)

interface Prompt {
  readonly prompt_id: string
  readonly prompt_state: string
  readonly answers?: readonly { readonly answer: readonly string[] }[]
}

interface Own {
  readonly item: ThreadItem
  readonly type: string
  readonly prompt: Prompt
  readonly handraise: {
    readonly key?: string
    readonly settlement?: { readonly surface?: string; readonly commandId: string }
  }
}

/** A thread with agents that ask and people who talk, over any number of lives of the worker. */
class World {
  readonly chat = new RoughThread()
  readonly clock = new ManualClock()
  readonly handed = new Set<string>()
  readonly said: ThreadItem[] = []
  /** What each agent was given, and in which life without a loss of memory. */
  readonly given = new Map<string, { readonly answer: readonly string[]; readonly life: number }>()
  readonly lifeOf = new Map<string, number>()
  readonly options: Partial<ThreadOptions>
  private readonly asking = new Set<string>()
  private medium = new MemoryMedium()
  private host: Awaited<ReturnType<typeof startHost>> | undefined
  private life = 0
  private asked = 0

  constructor(options: Partial<ThreadOptions>) {
    this.options = options
  }

  async start(): Promise<void> {
    this.host = await startHost({ medium: this.medium, inbox: { clock: this.clock } })
    await this.host.ctx.plugin(thread, {
      store: this.chat,
      mayAnswer: author => author !== 'eve',
      onMessage: ({ id }) => void this.handed.add(id),
      ...this.options,
    })
    // An agent that was not given its answer asks again.
    for (const key of this.asking) this.ask(key)
  }

  get questions(): readonly Question[] {
    return this.options.several === 'each' ? [DB, { id: 'notes', question: 'Notes?' }] : [DB]
  }

  ask(key = `k${(this.asked += 1)}`): void {
    this.asking.add(key)
    const { life } = this
    const given = async (): Promise<void> => {
      const asking = this.host!.ctx.userQuestions.ask({ questions: this.questions, key })
      const { selected = [], custom } = (await asking).answers[0] ?? {}
      this.asking.delete(key)
      this.given.set(key, { answer: [...selected, ...(custom === undefined ? [] : [custom])], life })
    }
    given().catch((error: unknown) => {
      // Superseded is an end; what could not be delivered is asked again by who wants to know.
      if ((error as { code?: string }).code === 'ASK_CANCELLED') this.asking.delete(key)
    })
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'ask':
        this.ask()
        break
      case 'say': {
        const [text, metadata] = LINES[step.line]!
        this.said.push(this.chat.say(step.author, text, metadata, step.isLate, step.edited))
        break
      }
      case 'again': {
        // What the worker posted comes again as well.
        const item = this.chat.items[step.item]
        if (item !== undefined) this.chat.redeliver(item, step.edited && item.author !== 'agent')
        break
      }
      case 'deliver':
        this.chat.deliverLate()
        break
      case 'fail':
        this.chat.faults.push(...step.faults)
        break
      case 'restart':
        await this.restart(step.keepsInbox)
        break
      case 'decide elsewhere':
        await this.decideElsewhere()
        break
      case 'wait':
        await this.clock.advance(step.ms)
    }
    await settled()
    for (const { item, type } of this.own())
      if (type === 'pending_prompt_resolved' && !this.lifeOf.has(item.id)) this.lifeOf.set(item.id, this.life)
  }

  private async restart(keepsInbox: boolean): Promise<void> {
    // What was decided elsewhere is known to the inbox alone until the thread says it.
    const isLost = !keepsInbox && !(await this.hasUntold())
    await this.host?.fiber.dispose()
    if (isLost) {
      this.medium = new MemoryMedium()
      this.life += 1
    }
    await this.start()
  }

  private async hasUntold(): Promise<boolean> {
    const { requests } = await this.host!.inbox.list({ state: 'settled', limit: 1_000 })
    const told = new Set(this.own().map(({ handraise }) => handraise.settlement?.commandId))
    return requests.some(({ settlement }) => settlement?.surface === 'web' && !told.has(settlement.commandId))
  }

  private async decideElsewhere(): Promise<void> {
    const [request] = (await this.host!.inbox.list({ state: 'pending' })).requests
    if (request === undefined) return
    const notes = this.questions.length > 1 ? [{ id: 'notes', selected: [], custom: 'none' }] : []
    const answer = { answers: [{ id: 'db', selected: ['SQLite'] }, ...notes] }
    const command = { commandId: crypto.randomUUID(), surface: 'web' }
    await this.host!.inbox.decide(request.id, { outcome: 'answered', answer }, command)
  }

  /** Nothing fails any more, and somebody answers whatever is asked. */
  async end(): Promise<void> {
    this.chat.faults.length = 0
    this.chat.deliverLate()
    for (let round = 0; round < 120; round += 1) {
      await this.clock.advance(30_000)
      if (this.asking.size === 0 && this.openNow() === 0) return
      for (const key of this.asking) this.ask(key)
      await settled()
      if (this.openNow() > 0) this.said.push(this.chat.say('ada', '1'))
      await settled()
    }
  }

  get waiting(): number {
    return this.asking.size
  }

  own(): Own[] {
    return this.chat.items.flatMap(item =>
      item.author === 'agent' ? [{ item, ...(item.metadata as Omit<Own, 'item'>) }] : [],
    )
  }

  openNow(): number {
    return this.openAfter(this.chat.items.length)
  }

  openAfter(position: number): number {
    const open = new Set<string>()
    for (const { item, type, prompt } of this.own()) {
      if (item.position > position) break
      if (type === 'pending_prompt') open.add(prompt.prompt_id)
      else open.delete(prompt.prompt_id)
    }
    return open.size
  }
}

function expectRight(world: World): void {
  const own = world.own()
  const prompts = own.filter(({ type }) => type === 'pending_prompt')
  const resolutions = own.filter(({ type }) => type === 'pending_prompt_resolved')
  // Never two resolutions, and one for each prompt; never two prompts open at once.
  const resolved = resolutions.map(({ prompt }) => prompt.prompt_id)
  expect(new Set(resolved).size).toBe(resolved.length)
  expect(new Set(prompts.map(({ prompt }) => prompt.prompt_id))).toEqual(new Set(resolved))
  for (const { item } of own) expect(world.openAfter(item.position)).toBeLessThanOrEqual(1)
  const answering = new Set<string>()
  for (const { item, prompt, handraise } of resolutions) {
    if (prompt.prompt_state !== 'answered') continue
    const answer = prompt.answers?.[0]?.answer
    const asked = prompts.find(each => each.prompt.prompt_id === prompt.prompt_id)!
    // Never an answer that nobody gave, that was given by the wrong one, or to something else.
    if (handraise.settlement?.surface === 'thread') {
      const [, id] = JSON.parse(handraise.settlement.commandId.slice('thread '.length)) as string[]
      const reply = world.said.find(said => said.id === id)!
      answering.add(reply.id)
      expect([reply.author === 'eve', reply.edited === true]).toEqual([false, false])
      expect(reply.position).toBeGreaterThan(asked.item.position)
      expect(reply.position).toBeLessThan(item.position)
      const text = thread.textOf(reply)
      // Of several a reply is one part.
      if (world.options.several === 'each') continue
      const line = LINES.find(
        each => each[0] === text && JSON.stringify(each[1]) === JSON.stringify(reply.metadata),
      )
      expect(answer).toEqual(line?.[2])
    }
    // The agent was given what the thread says.
    const given = world.given.get(asked.handraise.key ?? '')
    if (given !== undefined && given.life === world.lifeOf.get(item.id)) expect(given.answer).toEqual(answer)
  }
  // Nothing is swallowed, and nothing hangs.
  expect(world.waiting).toBe(0)
  if (world.options.several === 'each') return
  const lost = world.said.filter(({ id }) => !world.handed.has(id) && !answering.has(id))
  expect(lost).toEqual([])
}

describe('a rough thread never has two resolutions or a wrong answer, swallows nothing and leaves nobody waiting', () => {
  test.each<[string, Partial<ThreadOptions>]>([
    ['a second question waits', { whenBusy: 'wait' }],
    ['a second question supersedes', { whenBusy: 'supersede' }],
    ['several questions are asked one by one', { several: 'each' }],
  ])('where %s', async (_, options) => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { minLength: 5, maxLength: 30 }), async steps => {
        const world = new World(options)
        await world.start()
        for (const step of steps) await world.take(step)
        await world.end()
        await world.take({ do: 'wait', ms: 0 })
        expectRight(world)
      }),
      { numRuns: Number(process.env['HANDRAISE_THREAD_RUNS'] ?? 40) },
    )
  })
})
