import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Names the place in which the numbers of processes are told apart. A name that was given to two machines is not enough, and
 * on one machine containers have numbers of their own.
 */
export const THIS_MACHINE: string = [
  hostname(),
  read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  read(() => readlinkSync('/proc/self/ns/pid')),
].join(' ')

// Where there is no such file the name has to do.
function read(from: () => string): string {
  try {
    return from()
  } catch {
    return ''
  }
}
