export { brokenProviders, faithfulProvider, type BrokenProvider } from './broken-providers.ts'
export type { Ability, OpenProvider, Person, PersonAct, ProviderHarness } from './provider-harness.ts'
export { providerSuite, type ProviderCase } from './provider-suite.ts'
