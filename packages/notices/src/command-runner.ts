import { spawn } from 'node:child_process'
import { visibleLine } from '@handraise/user-questions/types'
import { NoticeError } from './error.ts'
import type { Notice } from './notice.ts'

/** A program to run. The notice comes on its standard input, as one line of JSON. */
export type NoticeCommand =
  /** A line for the shell: `/bin/sh`, or `cmd.exe` on Windows. */
  | { readonly command: string }
  /** A program and its arguments, run without a shell. */
  | { readonly file: string; readonly args?: readonly string[] | undefined }

export interface RunnerOptions {
  /** How long the command may run before it is killed, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined
  /** How many may run at once. Default 4. */
  readonly maxRunning?: number | undefined
  /** How many notices may wait for their turn; what comes then is dropped, and reported. Default 64. */
  readonly maxWaiting?: number | undefined
}

/** How much of what a failing command says is reported, in characters. */
const LARGEST_COMPLAINT = 400

/** Runs one command for each notice, a few at once. Whatever becomes of it is nobody's business but the report's. */
export class CommandRunner {
  private readonly command: NoticeCommand
  private readonly report: (error: NoticeError) => void
  private readonly timeoutMs: number
  private readonly maxRunning: number
  private readonly maxWaiting: number
  // What kills each command that runs.
  private readonly running = new Set<() => void>()
  private readonly waiting: Notice[] = []
  private closed = false

  constructor(
    command: NoticeCommand,
    { timeoutMs = 10_000, maxRunning = 4, maxWaiting = 64 }: RunnerOptions,
    report: (error: NoticeError) => void,
  ) {
    this.command = command
    this.timeoutMs = timeoutMs
    this.maxRunning = maxRunning
    this.maxWaiting = maxWaiting
    this.report = report
  }

  /** Starts the command, now or when others have ended. Never throws. */
  run(notice: Notice): void {
    if (this.closed) return
    if (this.running.size < this.maxRunning) this.start(notice)
    else if (this.waiting.length < this.maxWaiting) this.waiting.push(notice)
    else {
      const { waiting } = this
      this.fail('NOTICE_DROPPED', { command: this.shown, id: notice.id, waiting: waiting.length })
    }
  }

  /** Kills what still runs, and forgets what waits. */
  close(): void {
    this.closed = true
    this.waiting.length = 0
    this.killAll()
    this.running.clear()
    process.off('exit', this.killAll)
  }

  private get shown(): string {
    return 'command' in this.command
      ? this.command.command
      : [this.command.file, ...(this.command.args ?? [])].join(' ')
  }

  private start(notice: Notice): void {
    const { command, timeoutMs } = this
    const [file, args, shell] =
      'command' in command ? [command.command, [], true] : [command.file, command.args ?? [], false]
    let child: ReturnType<typeof spawnPiped>
    try {
      child = spawnPiped(file, args, shell)
    } catch (error) {
      this.fail('COMMAND_FAILED', { command: this.shown, why: (error as Error).message }, error)
      return
    }
    let complaint = ''
    let exited = false
    const kill = (): void => {
      if (!exited) killGroup(child.pid)
    }
    const end = (tell: () => void): void => {
      clearTimeout(timer)
      child.stderr?.destroy()
      if (!this.running.delete(kill)) return
      if (this.running.size === 0) process.off('exit', this.killAll)
      tell()
      const next = this.waiting.shift()
      if (next !== undefined) this.start(next)
    }
    const failed = (why: string, cause?: unknown) => () =>
      this.fail('COMMAND_FAILED', { command: this.shown, why: visibleLine(why) }, cause)
    const timer = setTimeout(() => {
      kill()
      end(() => this.fail('COMMAND_TIMED_OUT', { command: this.shown, timeoutMs }))
    }, timeoutMs)
    if (this.running.size === 0) process.on('exit', this.killAll)
    this.running.add(kill)

    child.once('error', error => end(failed(error.message, error)))
    child.once('exit', code => {
      exited = true
      // Whatever it left running in the background may hold its output open, and is its own affair.
      if (code === 0) end(() => {})
    })
    child.once('close', (code, signal) => {
      const how = code === null ? `it was ended by ${signal}` : `it exited with ${code}`
      end(failed(complaint === '' ? how : `${how}: ${complaint.trim()}`))
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(0, LARGEST_COMPLAINT)
    })
    // It may have ended, or never read.
    child.stdin?.on('error', () => {}).end(`${JSON.stringify(notice)}\n`)
  }

  private fail<C extends NoticeError['code']>(
    ...[code, details, cause]: [C, NoticeError<C>['details'], cause?: unknown]
  ): void {
    this.report(new NoticeError(code, details, { cause }))
  }

  private readonly killAll = (): void => {
    for (const kill of this.running) kill()
  }
}

// A session of its own: it cannot read from the terminal, Ctrl-C there is not for it, and what it starts dies with it.
function spawnPiped(file: string, args: readonly string[], shell: boolean) {
  return spawn(file, args, {
    shell,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
