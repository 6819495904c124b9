import { EXIT } from './exit-code.ts'

// Characters a terminal or a reader would obey instead of show. JSON allows most of them as they are, and means the same
// when they are escaped.
const UNSAFE =
  /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g

/** A value as one line of JSON that is safe to print. */
export function jsonLine(value: unknown): string {
  const json = JSON.stringify(value).replace(UNSAFE, text =>
    Array.from(
      { length: text.length },
      (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
  return `${json}\n`
}

/** Writes a value as a line. When standard output cannot take it, says so on standard error and ends with exit code 1. */
export function writeLine(stream: NodeJS.WritableStream, value: unknown): void {
  stream.write(jsonLine(value), error => {
    if (error === null || error === undefined || stream !== process.stdout) return
    process.exitCode = EXIT.internal
    writeLine(process.stderr, {
      code: 'INTERNAL',
      message: `standard output cannot be written: ${error.message}`,
    })
  })
}
