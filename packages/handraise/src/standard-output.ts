import { Writable } from 'node:stream'

/**
 * Takes standard output away from whatever prints to it, for as long as this process lasts: only what is written to the stream
 * that is returned goes there, and all else to standard error.
 */
export function takeStandardOutput(): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  const output = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, encoding, done) {
      if (typeof chunk === 'string') write(chunk, encoding, done)
      else write(chunk, done)
    },
  })
  // Whoever writes is told of it there; with nobody listening it would end the process.
  return output.on('error', () => {})
}
