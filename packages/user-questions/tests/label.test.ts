import { foldLabel, isOtherLabel, splitRecommended } from '@handraise/user-questions'
import { describe, expect, test } from 'vitest'

test('labels fold together when a typed reply could not tell them apart', () => {
  expect(foldLabel(' Yes ')).toBe(foldLabel('yES'))
  expect(foldLabel('e\u0301')).toBe(foldLabel('\u00c9'))
  expect(foldLabel('Yes')).not.toBe(foldLabel('Yes.'))
  expect(foldLabel('a b')).not.toBe(foldLabel('ab'))
})

describe('the mark of a recommended option', () => {
  test('is split off for show, whatever its case or language', () => {
    for (const label of ['SQLite (Recommended)', 'SQLite (recommended) ', 'SQLite（推荐）']) {
      expect(splitRecommended(label)).toEqual({ text: 'SQLite', recommended: true })
    }
  })

  test('is none when it is not at the end, or all there is', () => {
    for (const label of ['SQLite', '(Recommended) SQLite', 'Recommended', '(Recommended)', ' （推荐）']) {
      expect(splitRecommended(label)).toEqual({ text: label, recommended: false })
    }
  })
})

test('only the bare label Other means the free-text row', () => {
  for (const label of ['Other', 'other', ' OTHER ']) expect(isOtherLabel(label)).toBe(true)
  for (const label of ['Something else', 'Other (please specify)', 'Others', ''])
    expect(isOtherLabel(label)).toBe(false)
})

test('characters that show nothing do not tell two labels apart', () => {
  expect(foldLabel('Ye\u200bs\u00ad')).toBe(foldLabel('yes'))
})
