import { describe, test } from 'vitest'
import { providerSuite } from '@handraise/user-questions/testing'
import { terminalHarness } from './harness.ts'

describe('the terminal provider keeps the contract of a provider', () => {
  for (const { name, run } of providerSuite(terminalHarness())) test(name, run)
})

describe('the terminal provider keeps the contract in plain mode', () => {
  for (const { name, run } of providerSuite(terminalHarness({ plain: true }))) test(name, run)
})
