import { EXIT, type ExitCode } from './exit-code.ts'

/** Why a command cannot go on, before any question was asked. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: 'BAD_INPUT' | 'BAD_USAGE' | 'SIGNALLED' | 'INTERNAL'
  readonly exitCode: ExitCode

  constructor(code: CommandError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.exitCode = {
      BAD_INPUT: EXIT.badInput,
      BAD_USAGE: EXIT.badInput,
      SIGNALLED: EXIT.signalled,
      INTERNAL: EXIT.internal,
    }[code] as ExitCode
  }
}
