import {
  surfaceSuite,
  type ShownEnding,
  type SurfaceHarness,
  type SurfaceResult,
} from '@handraise/inbox/testing'
import { describe, test, vi } from 'vitest'
import { attachThread, MemoryThread, type ThreadItem } from '../src/index.ts'
import { readEnding, readOrigin } from '../src/origin.ts'
import { looksAt, promptOf } from './host.ts'

/** What somebody sees who reads along in the thread and replies to its prompts. */
const thread: SurfaceHarness = {
  lacks: {
    sideBySide: 'a thread asks one question at a time',
    decline: 'a reply answers',
    engage: 'nobody is told of a reply before it is posted',
    connection: 'what cannot be read is read again from the place in the record; that is tested by itself',
  },
  async attach(ctx) {
    const chat = new MemoryThread('agent')
    const { prompts, resolved } = looksAt(chat)
    const detach = await attachThread(ctx, { store: chat })
    const endingOf = (id: string): ShownEnding | undefined => {
      const item = resolved().find(({ metadata }) => promptIdIn(metadata) === `prm_${id}`)
      const { outcome, surface } = readEnding(handraiseIn(item?.metadata)) ?? {}
      return outcome === undefined ? undefined : { outcome, surface }
    }
    return {
      shown: () =>
        prompts()
          .map(item => ({ id: readOrigin(handraiseIn(item.metadata))?.id ?? '', question: questionIn(item) }))
          .filter(({ id }) => endingOf(id) === undefined),
      ended: endingOf,
      async answer(id, answers): Promise<SurfaceResult> {
        const [prompt] = prompts().filter(({ metadata }) => promptIdIn(metadata) === `prm_${id}`)
        await chat.as('ada').say('as given', {
          prompt_id: `prm_${id}`,
          answers: answers.map(({ selected, custom }) => ({
            question: prompt === undefined ? '' : questionIn(prompt),
            answer: [...selected, ...(custom === undefined ? [] : [custom])],
          })),
        })
        const ended = await vi.waitUntil(() => endingOf(id), { interval: 5, timeout: 5_000 })
        return ended.surface === 'thread' ? { result: 'settled' } : { result: 'late', ended }
      },
      detach,
    }
  },
}

function promptIdIn(metadata: unknown): unknown {
  return (metadata as { prompt?: { prompt_id?: unknown } } | undefined)?.prompt?.prompt_id
}

function handraiseIn(metadata: unknown): unknown {
  return (metadata as { handraise?: unknown } | undefined)?.handraise
}

function questionIn(item: ThreadItem): string {
  const [first] = promptOf(item)['questions'] as { readonly question: string }[]
  return first?.question ?? ''
}

describe('a thread, as a surface', () => {
  for (const { name, run } of surfaceSuite(thread)) test(name, run)
})
