import {
  systemClock,
  UserQuestionError,
  type AskUserQuestionAnswer,
  type Clock,
  type ProviderRequest,
  type UserQuestionProvider,
} from '@handraise/user-questions/types'
import { isForeground, judgeTerminal } from './judge.ts'
import { askPlain } from './plain.ts'
import { Queue } from './queue.ts'
import { askRich } from './rich.ts'
import type { Terminal, TerminalInput, TerminalOutput } from './terminal.ts'

export interface TerminalOptions {
  /** Default `process.stdin`. */
  readonly input?: TerminalInput | undefined
  /** Default `process.stdout`. */
  readonly output?: TerminalOutput | undefined
  /** Where `CI`, `TERM`, `ACCESSIBLE` and `NO_COLOR` are read. Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Lines that are only added to, for screen readers and simple terminals. Default false: where `TERM` or `ACCESSIBLE` asks for it. */
  readonly plain?: boolean | undefined
  /** How long after a question is shown keys begin to count, in milliseconds. Default 500. */
  readonly armingDelayMs?: number | undefined
  /** Default: the system's. */
  readonly clock?: Clock | undefined
  /** Whether the process may read from its terminal. Default: the system is asked. */
  readonly foreground?: (() => boolean) | undefined
}

export type TerminalProvider = UserQuestionProvider & { readonly name: 'terminal' }

const ARMING_DELAY_MS = 500

// One terminal has one line of people waiting, however many providers write to it.
const queues = new WeakMap<TerminalInput, Queue>()

/**
 * Asks the person at this terminal. Requests are shown one after the other, in the order in which they came.
 *
 * Ends `ASK_UNAVAILABLE`, reason `not-interactive`, at once and with nothing written, where nobody could answer: no
 * terminal on both streams, `CI` set, or the process in the background. Also `ASK_CANCELLED` (Ctrl-C, Esc twice, the
 * end of the input), `ASK_DECLINED` (Esc twice with nothing answered), `ASK_CLARIFIED` and `ASK_INTERRUPTED`.
 */
export function terminalProvider(options: TerminalOptions = {}): TerminalProvider {
  const terminal: Terminal = {
    input: options.input ?? process.stdin,
    output: options.output ?? process.stdout,
    env: options.env ?? process.env,
    clock: options.clock ?? systemClock,
    armingDelayMs: options.armingDelayMs ?? ARMING_DELAY_MS,
    foreground: options.foreground ?? isForeground,
  }
  const { plain } = options

  async function show(request: ProviderRequest): Promise<AskUserQuestionAnswer> {
    const verdict = judgeTerminal({ ...terminal, plain })
    if (verdict.mode === 'none') {
      const advice = `${verdict.why}; ${verdict.advice}`
      throw new UserQuestionError('ASK_UNAVAILABLE', { reason: 'not-interactive', advice })
    }
    return verdict.mode === 'rich' ? askRich(request, terminal) : askPlain(request, terminal)
  }

  return {
    name: 'terminal',
    async ask(request) {
      const verdict = judgeTerminal({ ...terminal, plain })
      // Not queued: nobody is to wait for a person who is not there.
      if (verdict.mode === 'none') return show(request)
      let queue = queues.get(terminal.input)
      if (queue === undefined) queues.set(terminal.input, (queue = new Queue()))
      return queue.run(request.signal, () => show(request))
    },
  }
}
