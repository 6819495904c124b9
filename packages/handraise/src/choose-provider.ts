import {
  AUTO_POLICIES,
  autoProvider,
  recordingProvider,
  replayProvider,
  scriptSchema,
  type AutoPolicy,
} from '@handraise/provider-auto'
import { describeIssues, issuesOfZod, type UserQuestionProvider } from '@handraise/user-questions/types'
import { CommandError } from './command-error.ts'
import { openTerminal } from './controlling-terminal.ts'
import { readJson } from './read-json.ts'

export interface ProviderChoice {
  /** A script file. */
  readonly answers?: string | undefined
  readonly policy?: AutoPolicy | undefined
  /** A recording to answer from. */
  readonly replay?: string | undefined
  /** A recording to add to. */
  readonly record?: string | undefined
  readonly plain?: boolean | undefined
}

export interface ChosenProvider {
  readonly provider: UserQuestionProvider
  /** True when a person is prompted in this terminal. */
  readonly prompts: boolean
  readonly close: () => void
}

/** A script, a policy or a recording where one is named, else the terminal. */
export async function chooseProvider(choice: ProviderChoice, inputTaken: boolean): Promise<ChosenProvider> {
  const chosen = await unrecorded(choice, inputTaken)
  return choice.record === undefined
    ? chosen
    : { ...chosen, provider: recordingProvider(chosen.provider, choice.record) }
}

async function unrecorded(choice: ProviderChoice, inputTaken: boolean): Promise<ChosenProvider> {
  const { answers, policy, replay, plain } = choice
  if (replay !== undefined) {
    if (answers !== undefined || policy !== undefined) {
      throw new CommandError('BAD_USAGE', '--replay goes without --answers and --policy')
    }
    return headless(await replayProvider(replay).catch(badInput))
  }
  if (answers !== undefined || policy !== undefined) {
    return headless(autoProvider({ script: answers === undefined ? [] : await readScript(answers), policy }))
  }
  const { terminalProvider } = await import('@handraise/provider-terminal')
  const { input, output, close } = openTerminal(inputTaken)
  return {
    provider: terminalProvider({ input, output, ...(plain === true ? { plain } : {}) }),
    prompts: true,
    close,
  }
}

function headless(provider: UserQuestionProvider): ChosenProvider {
  return { provider, prompts: false, close() {} }
}

async function readScript(file: string): Promise<NonNullable<Parameters<typeof autoProvider>[0]>['script']> {
  const parsed = scriptSchema.safeParse(await readJson(file))
  if (parsed.success) return parsed.data
  throw new CommandError('BAD_INPUT', `${file}: ${describeIssues(issuesOfZod(parsed.error))}`)
}

function badInput(error: unknown): never {
  throw new CommandError('BAD_INPUT', (error as Error).message, { cause: error })
}

export function isPolicy(name: string): name is AutoPolicy {
  return (AUTO_POLICIES as readonly string[]).includes(name)
}
