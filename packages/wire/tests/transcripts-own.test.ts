import { describe, expect, test } from 'vitest'
import { OWN_SCENARIOS } from './transcripts/own.ts'
import { keptNames, readOwn, writeOwn } from './transcripts/own-files.ts'
import { play } from './transcripts/player.ts'
import { record } from './transcripts/recorder.ts'

// Then they are recorded anew, and what has changed is for whoever reads the difference to judge.
const updating = process.env.UPDATE_TRANSCRIPTS === '1'

describe.each(OWN_SCENARIOS)('$name', scenario => {
  test('is recorded as it is kept', async () => {
    const recorded = await record(scenario)
    if (updating) writeOwn(recorded)
    expect(recorded.frames).toEqual(readOwn(scenario.name).frames)
  })

  test('goes as it was recorded when it is played to another host', async () => {
    await play(readOwn(scenario.name), scenario)
  })
})

test('every transcript that is kept is of a scenario', () => {
  expect(keptNames().toSorted()).toEqual(OWN_SCENARIOS.map(({ name }) => name).toSorted())
})
