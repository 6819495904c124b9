import { describe, expect, test } from 'vitest'
import { DEVIATIONS } from './transcripts/deviations.ts'
import { LearnedIds } from './transcripts/learned-ids.ts'
import { differences } from './transcripts/match.ts'
import { OWN_SCENARIOS } from './transcripts/own.ts'
import { readOwn } from './transcripts/own-files.ts'
import { play } from './transcripts/player.ts'
import type { Scenario } from './transcripts/scenario.ts'
import type { Transcript } from './transcripts/transcript.ts'

const NAME = 'question-answered-single'

function scenario() {
  const found = OWN_SCENARIOS.find(({ name }) => name === NAME)
  if (found === undefined) throw new Error('it is gone')
  return found
}

/** The transcript with the first frame that holds one text changed. */
function changed(from: string, to: string): Transcript {
  const { name, frames } = readOwn(NAME)
  const index = frames.findIndex(({ raw }) => raw.includes(from))
  expect(index).toBeGreaterThan(-1)
  return {
    name,
    frames: frames.map((frame, at) =>
      at === index ? { ...frame, raw: frame.raw.replace(from, to) } : frame,
    ),
  }
}

describe('playing a transcript', () => {
  test.each([
    [
      'a word of the protocol is another',
      '"outcome":"answered"',
      '"outcome":"cancelled"',
      /outcome: is "answered"/,
    ],
    [
      'a member is missing at the host',
      '"outcome":"answered"',
      '"outcome":"answered","more":1',
      /more: is not there/,
    ],
    ['a member is more than there was', '"reason":null,', '', /reason: is not there in the transcript/],
    ['a type is another', '"reason":null', '"reason":"none"', /reason: null is of the type null/],
    ['a list has another length', '"answers":[]', '"answers":[1]', undefined],
    [
      'a text is another',
      '"visibleOutput":"Postgres"',
      '"visibleOutput":"Postgres "',
      /visibleOutput: is "Postgres"/,
    ],
    [
      'an id stands for another one',
      '"userInputId":"input-1","outcome"',
      '"userInputId":"input-2","outcome"',
      /is input-1 in the transcript/,
    ],
    ['two ids stand for the same one', '"toolCallId":"call-1"', '"toolCallId":"item-2"', /item-2 stood for/],
  ])('fails where %s', async (_, from, to, message) => {
    if (message === undefined) {
      expect(differences({ answers: [1] }, { answers: [] }, new LearnedIds())).toEqual([
        'answers: has 0 elements, in the transcript 1',
      ])
      return
    }
    await expect(play(changed(from, to), scenario())).rejects.toThrow(message)
  })

  test('fails where frames come in another order', async () => {
    const { name, frames } = readOwn(NAME)
    const last = frames.length - 1
    const swapped = frames.map(
      (frame, index) => frames[index === last ? last - 1 : index === last - 1 ? last : index] ?? frame,
    )
    await expect(play({ name, frames: swapped }, scenario())).rejects.toThrow(/line \d+: method: /u)
  })

  test('fails where the host says more than the transcript has', async () => {
    const { name, frames } = readOwn(NAME)
    await expect(play({ name, frames: frames.slice(0, -1) }, scenario())).rejects.toThrow('more to say')
  })

  test('fails where the host says less than the transcript has', async () => {
    const { name, frames } = readOwn(NAME)
    const [again] = frames.slice(-1)
    const longer = { name, frames: again === undefined ? frames : [...frames, again] }
    const hasty: Scenario = {
      name: NAME,
      set: async () => ({ ...(await scenario().set()), line: { patienceMs: 20 } }),
    }
    await expect(play(longer, hasty)).rejects.toThrow('the host is silent')
  })

  test('fails where a deviation is named and there is none', async () => {
    const [deviation] = DEVIATIONS
    if (deviation === undefined) throw new Error('there is none')
    const named = { ...deviation, in: 'userInput/settled', at: 'params.usage' }
    await expect(play(readOwn(NAME), scenario(), [named])).rejects.toThrow('does not deviate at')
  })

  test('takes times, versions and fingerprints as they come', () => {
    const one = { emittedAtMs: 1, recordedAt: '2026-01-01T09:00:00Z', serverInfo: { version: '0.0.0' } }
    const other = { emittedAtMs: 2, recordedAt: '2026-02-03T04:05:06.789Z', serverInfo: { version: '9.9.9' } }
    expect(differences(one, other, new LearnedIds())).toEqual([])
    expect(differences(one, { ...other, recordedAt: 'today' }, new LearnedIds())).toEqual([
      'recordedAt: "today" is no instant of RFC 3339',
    ])
  })

  test('finds ids again within texts', () => {
    const ids = new LearnedIds()
    const real = '0199aaaa-bbbb-7000-8000-000000000001'
    expect(differences({ sessionId: 'session-1' }, { sessionId: real }, ids)).toEqual([])
    expect(differences({ message: 'no session-1 here' }, { message: `no ${real} here` }, ids)).toEqual([])
    expect(ids.realOf('session-1')).toBe(real)
  })
})
