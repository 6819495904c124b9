import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { systemClock, type Clock } from '@handraise/user-questions'
import type { FrameChannel } from '../channel.ts'
import { stdioChannel } from '../stdio-channel.ts'

export interface SpawnHostOptions {
  readonly command: string
  readonly args?: readonly string[] | undefined
  readonly cwd?: string | undefined
  /** All of it. Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Hears what the host logs, as it comes. Default: it goes where the errors of this process go. */
  readonly onStderr?: ((text: string) => void) | undefined
  /** How long a host has to end by itself once nobody speaks to it any more, in milliseconds. Default 30,000. */
  readonly shutdownTimeoutMs?: number | undefined
  /** The longest frame either way, in bytes of UTF-8. Default 10 MiB. */
  readonly limitBytes?: number | undefined
  readonly clock?: Clock | undefined
}

/** How a host ended: by its own code, or by a signal. */
export interface HostExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface SpawnedHost {
  /** Ends with the host. */
  readonly channel: FrameChannel
  readonly child: ChildProcess
  /** Resolves when the host has ended, for whatever reason. */
  readonly exited: Promise<HostExit>
  /**
   * Ends the host: closes its input and lets it finish, asks it with SIGTERM after `shutdownTimeoutMs`, and kills it 2 s
   * after that. What it says meanwhile is read still, so use this rather than to close the client. Resolves when it has ended.
   */
  shutdown(): Promise<HostExit>
}

/** How long a host has after SIGTERM, in milliseconds. */
const TERM_MS = 2_000
/** How long what an ended host has said may still be read, in milliseconds: a child of it may hold its output open. */
const LAST_WORDS_MS = 2_000

/** Starts a host, as the leader of its own process group where there are such. Rejects where it cannot be started. */
export async function spawnHost(options: SpawnHostOptions): Promise<SpawnedHost> {
  const { command, args = [], cwd, env, onStderr, limitBytes } = options
  const { shutdownTimeoutMs = 30_000, clock = systemClock } = options
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ['pipe', 'pipe', onStderr === undefined ? 'inherit' : 'pipe'],
    detached: hasGroups,
  })
  const exited = new Promise<HostExit>(resolve =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  child.stderr?.setEncoding('utf8').on('data', (text: string) => onStderr?.(text))
  await once(child, 'spawn')
  // A signal that cannot be sent, because it has just ended.
  child.on('error', () => {})
  const { stdin, stdout } = child
  const channel = stdioChannel(stdout!, stdin!, { limitBytes })
  closeAfterExit(child, channel, clock)

  let ending: Promise<HostExit> | undefined
  const shutdown = async (): Promise<HostExit> => {
    stdin!.end()
    if (!(await endsWithin(exited, shutdownTimeoutMs, clock))) kill(child, 'SIGTERM')
    if (!(await endsWithin(exited, TERM_MS, clock))) kill(child, 'SIGKILL')
    return exited
  }
  return { channel, child, exited, shutdown: () => (ending ??= shutdown()) }
}

const hasGroups = process.platform !== 'win32'

function closeAfterExit(child: ChildProcess, channel: FrameChannel, clock: Clock): void {
  child.once('exit', () => {
    const callOff = clock.after(LAST_WORDS_MS, () => channel.close())
    child.once('close', callOff)
  })
}

function endsWithin(exited: Promise<unknown>, delayMs: number, clock: Clock): Promise<boolean> {
  return new Promise(resolve => {
    const callOff = clock.after(delayMs, () => resolve(false))
    void exited.finally(() => {
      callOff()
      resolve(true)
    })
  })
}

// With the processes that it started, unless it has ended: its id may then be that of another.
function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    if (hasGroups) process.kill(-pid, signal)
    else child.kill(signal)
  } catch {
    // It ended just now.
  }
}
