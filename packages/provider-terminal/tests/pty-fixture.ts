// Run in a pseudo-terminal by `pty.test.ts`: asks what its first argument says, and prints how it ended.
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { ReadStream, WriteStream } from 'node:tty'
import { UserQuestionError, type Question } from '@handraise/user-questions/types'
import { terminalProvider } from '../src/index.ts'

const { questions, armingDelayMs, abortOn, abortReason, plain, controlling, report, stopAfterMs } =
  JSON.parse(process.argv[2] ?? '{}') as {
    questions: Question[]
    armingDelayMs: number
    /** Aborts when the process gets this signal. */
    abortOn?: NodeJS.Signals
    /** What an inbox says then. Default: an error of the host's own. */
    abortReason?: string
    plain?: boolean
    /** Asks on the controlling terminal, as a command does whose own streams are pipes. */
    controlling?: boolean
    /** A file for how it ended, where the terminal may be gone by then. */
    report?: string
    /** Stops the process, as another one may, this long after the start. */
    stopAfterMs?: number
  }

const controller = new AbortController()
const withdrawn =
  abortReason === undefined
    ? new Error('withdrawn')
    : new UserQuestionError('ASK_ABORTED', { reason: abortReason })
if (abortOn !== undefined) process.once(abortOn, () => controller.abort(withdrawn))

if (stopAfterMs !== undefined) setTimeout(() => process.kill(process.pid, 'SIGSTOP'), stopAfterMs)

let ending = ''
if (report !== undefined) {
  process.on('SIGHUP', () => {})
  process.on('exit', code => {
    writeFileSync(report, `${ending} exit ${code}`)
    // Node itself aborts when it cannot set back the mode of a terminal that is gone (nodejs/node#51519).
    for (const fd of [0, 1, 2]) closeSync(fd)
  })
}

const streams =
  controlling === true
    ? { input: new ReadStream(openSync('/dev/tty', 'r')), output: new WriteStream(openSync('/dev/tty', 'w')) }
    : {}

process.stdout.write('before\r\n')
try {
  const answer = await terminalProvider({ armingDelayMs, plain, ...streams }).ask({
    id: 'request',
    questions,
    signal: controller.signal,
    engaged() {},
  })
  say(JSON.stringify(answer.answers))
} catch (error) {
  say(UserQuestionError.isInstance(error) ? `${error.code} ${JSON.stringify(error.details)}` : String(error))
}

function say(ended: string): void {
  ending = ended
  if (report !== undefined) return
  process.stdout.write(`ended: ${ended}\nraw: ${String(process.stdin.isRaw)}\n`)
}

streams.input?.destroy()
streams.output?.destroy()
