import { describe, expect, test } from 'vitest'
import { isPublishedHere, publishedTranscripts, PUBLISHED_MISSING } from './published.ts'
import { DEVIATIONS } from './transcripts/deviations.ts'
import { play } from './transcripts/player.ts'
import { OUTSIDE, SCENARIOS } from './transcripts/scenarios.ts'

describe.skipIf(!isPublishedHere)(
  `the published transcripts, played to this host${PUBLISHED_MISSING}`,
  () => {
    const transcripts = publishedTranscripts()
    const playable = transcripts.filter(({ name }) => !(name in OUTSIDE))

    test.each(playable)('$name goes as it was recorded', async transcript => {
      const scenario = SCENARIOS.find(({ name }) => name === transcript.name)
      if (scenario === undefined) throw new Error('there is no scenario for it')
      const deviations = DEVIATIONS.filter(each => each.transcripts.includes(transcript.name))
      await play(transcript, scenario, deviations)
    })

    test('are all played, but for those about what this host has no part in', () => {
      const played = [...SCENARIOS.map(({ name }) => name), ...Object.keys(OUTSIDE)]
      expect(played.toSorted()).toEqual(transcripts.map(({ name }) => name))
    })

    test('are named rightly where this host is unlike them', () => {
      const names = SCENARIOS.map(({ name }) => name)
      for (const { transcripts: of } of DEVIATIONS) expect(names).toEqual(expect.arrayContaining([...of]))
    })
  },
)
