import { closeSync, openSync } from 'node:fs'
import { ReadStream, WriteStream } from 'node:tty'

export interface TerminalStreams {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WriteStream
  readonly close: () => void
}

/**
 * Where a prompt goes: this process's own standard streams when both are the terminal and standard input is not what the
 * request comes from, else the controlling terminal. Without one the standard streams are returned all the same: the
 * provider judges them, and says why it cannot ask there.
 */
export function openTerminal(inputTaken: boolean): TerminalStreams {
  const standard: TerminalStreams = { input: process.stdin, output: process.stdout, close() {} }
  if (!inputTaken && process.stdin.isTTY && process.stdout.isTTY) return standard
  if (process.platform === 'win32') return standard
  let readFd: number | undefined
  try {
    readFd = openSync('/dev/tty', 'r')
    const input = new ReadStream(readFd)
    const output = new WriteStream(openSync('/dev/tty', 'w'))
    return {
      input,
      output,
      close() {
        input.destroy()
        output.destroy()
      },
    }
  } catch {
    if (readFd !== undefined) closeSync(readFd)
    return standard
  }
}
