import { EXIT, type ExitCode } from './exit-code.ts'

const EXIT_OF_CODE = {
  BAD_INPUT: EXIT.badInput,
  BAD_USAGE: EXIT.badInput,
  /** The inbox cannot be reached. */
  ASK_UNAVAILABLE: EXIT.unavailable,
  ALREADY_SETTLED: EXIT.alreadySettled,
  /** Of the database behind an inbox. Nothing was done. */
  DATABASE_UNREACHABLE: EXIT.unavailable,
  DATABASE_REFUSED: EXIT.unavailable,
  /** It is not known whether it was done. */
  WRITE_UNKNOWN: EXIT.internal,
  SIGNALLED: EXIT.signalled,
  INTERNAL: EXIT.internal,
  /** What a host was to be set up with is not there, or cannot be used. */
  BAD_CONFIG: EXIT.badConfig,
} as const

/** Why a command cannot go on, other than by how an ask ended. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: keyof typeof EXIT_OF_CODE
  readonly exitCode: ExitCode

  constructor(code: CommandError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.exitCode = EXIT_OF_CODE[code]
  }
}
