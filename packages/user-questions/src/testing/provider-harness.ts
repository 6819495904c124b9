import type { Answer } from '../question.ts'
import type { ProviderRequest, UserQuestionProvider } from '../request.ts'

/** What the person in front of the provider does once a request is shown. */
export type PersonAct =
  /** Answers every question, each as given: labels, text, or a skip. */
  | { readonly act: 'answer'; readonly answers: readonly Answer[] }
  /** Answers the questions given, then dismisses the request. */
  | { readonly act: 'dismiss'; readonly after?: readonly Answer[] | undefined }
  /** Says no to answering. */
  | { readonly act: 'decline' }
  /** Looks at it, and does nothing. */
  | { readonly act: 'nothing' }

/** Called when the provider shows a request to the person: once for each request, however many questions it has. */
export type Person = (request: ProviderRequest) => PersonAct

/** What a provider may be unable to do. */
export type Ability =
  'multiSelect' | 'freeText' | 'textBesideLabels' | 'skip' | 'dismiss' | 'partial' | 'decline' | 'wait'

/** How the suite gets at a provider. */
export interface ProviderHarness {
  /**
   * Opens a fresh provider with `person` before it. `close` takes it down and frees what it holds.
   * The person is asked what to do when a request is shown, and never for a request that is not.
   */
  open(person: Person): OpenProvider | Promise<OpenProvider>
  /** What this provider cannot do, each with the reason. Cases that need it are left out. */
  readonly lacks?: Readonly<Partial<Record<Ability, string>>> | undefined
  /** How long a step of a person may take before a case fails, in milliseconds. Default 5,000. */
  readonly withinMs?: number | undefined
}

export interface OpenProvider {
  readonly provider: UserQuestionProvider
  readonly close: () => void | Promise<void>
}
