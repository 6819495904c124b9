import { isIPv4 } from 'node:net'

/** True of a host name that is this machine and no other: `localhost`, `127.0.0.0/8`, `::1`. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/u, '$1').toLowerCase()
  return name === 'localhost' || name === '::1' || (isIPv4(name) && name.startsWith('127.'))
}
