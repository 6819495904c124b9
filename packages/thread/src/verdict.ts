import { ThreadError } from './error.ts'

/**
 * Asks a function of the host. Only `true` counts: what throws is reported, as is what is no boolean, such as the promise of
 * a function that was written as an asynchronous one.
 */
export function isTrue(
  option: 'takes' | 'mayAnswer',
  ask: () => unknown,
  threadId: string,
  report: (error: unknown) => void,
): boolean {
  try {
    const given = ask()
    if (typeof given === 'boolean') return given
    report(new ThreadError('BAD_OPTION', { threadId, option, given: given === null ? 'null' : typeof given }))
    if (given instanceof Promise) given.catch(report)
  } catch (error) {
    report(error)
  }
  return false
}
