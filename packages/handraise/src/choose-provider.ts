import { appendFile } from 'node:fs/promises'
import {
  autoProvider,
  readScript,
  recordingProvider,
  replayProvider,
  type AutoPolicy,
  type Script,
} from '@handraise/provider-auto'
import type { UserQuestionProvider } from '@handraise/user-questions/types'
import { CommandError } from './command-error.ts'
import { openTerminal } from './controlling-terminal.ts'
import { nameOf, readJson } from './read-json.ts'

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
  /** The terminal, where somebody is there to be prompted. */
  readonly terminal?: NodeJS.WriteStream | undefined
  readonly close: () => void
}

/** A script, a policy or a recording where one is named, else the terminal. */
export async function chooseProvider(choice: ProviderChoice, inputTaken: boolean): Promise<ChosenProvider> {
  const { answers, record } = choice
  if (inputTaken && answers === '-') {
    throw new CommandError(
      'BAD_USAGE',
      '--answers - would read the standard input, which the request comes from',
    )
  }
  // Before anybody is asked: an answer is not to be lost for a file that was never writable.
  if (record !== undefined) await appendFile(record, '').catch(badInput)
  const chosen = await unrecorded(choice, inputTaken)
  return record === undefined ? chosen : { ...chosen, provider: recordingProvider(chosen.provider, record) }
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
    return headless(
      autoProvider({ script: answers === undefined ? [] : await readScriptFile(answers), policy }),
    )
  }
  const { judgeTerminal, terminalProvider } = await import('@handraise/provider-terminal')
  const { input, output, close } = openTerminal(inputTaken)
  const { mode } = judgeTerminal({ input, output, env: process.env })
  return {
    provider: terminalProvider({ input, output, ...(plain === true ? { plain } : {}) }),
    prompts: true,
    terminal: mode === 'none' ? undefined : output,
    close,
  }
}

function headless(provider: UserQuestionProvider): ChosenProvider {
  return { provider, prompts: false, close() {} }
}

async function readScriptFile(file: string): Promise<Script> {
  const json = await readJson(file)
  try {
    return readScript(json)
  } catch (error) {
    throw new CommandError('BAD_INPUT', `${nameOf(file)}: ${(error as Error).message}`, { cause: error })
  }
}

function badInput(error: unknown): never {
  throw new CommandError('BAD_INPUT', (error as Error).message, { cause: error })
}
