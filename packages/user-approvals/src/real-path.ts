import { lstat, readlink, stat } from 'node:fs/promises'
import { isAbsolute, posix } from 'node:path'

export type RealPath = { readonly path: string } | { readonly fault: string }

export interface RealPathOptions {
  /** An absolute path that a relative one starts from. Absent: a relative path has no real one. */
  readonly base?: string | undefined
  /** Refuse a symbolic link in the last place: what is done to it is not done to where it leads. Default false. */
  readonly refuseLastLink?: boolean | undefined
}

interface Segment {
  readonly name: string
  /** It comes from where a symbolic link leads, not from the path itself. */
  readonly linked: boolean
}

/** As many as the kernel follows. */
const MOST_LINKS = 40

/** What stands for another file in every process that opens it. */
const PER_PROCESS = ['/proc', '/dev']

/**
 * Where a path leads by the file system as it is now: absolute, through every symbolic link. Of a path that does not exist,
 * where its deepest existing directory leads, and the rest behind that.
 *
 * It has a fault instead of a path, which no rule then covers, where a reader and the kernel could come to different files:
 * `..` behind a symbolic link or behind what does not exist, a link that leads nowhere or in circles, a file with something
 * below it or a slash behind it, what differs from process to process (`/proc`, `/dev`), what may not be looked at, and
 * every path on Windows, whose names have more than one reading. Hard links cannot be seen.
 */
export async function realPathOf(path: string, options: RealPathOptions = {}): Promise<RealPath> {
  if (process.platform === 'win32') return { fault: 'is not resolved on Windows' }
  const { base } = options
  if (!isAbsolute(path) && (base === undefined || !isAbsolute(base)))
    return { fault: 'is relative, and from where is not known' }
  const whole = isAbsolute(path) ? path : `${base}/${path}`
  try {
    const found = await walk(whole, options)
    if ('fault' in found || !/(?:^|\/)\.\.(?:\/|$)/u.test(whole)) return found
    // Who takes `..` away before opening the file must come to the same one.
    const shortened = await walk(posix.normalize(whole), options)
    if ('path' in shortened && shortened.path === found.path) return found
    return { fault: 'has a ".." behind a symbolic link, and leads to one file or to another' }
  } catch (error) {
    return { fault: `cannot be resolved: ${error instanceof Error ? codeOf(error) : String(error)}` }
  }
}

async function walk(whole: string, { refuseLastLink = false }: RealPathOptions): Promise<RealPath> {
  const pending = segmentsOf(whole, false)
  let current = '/'
  let links = 0
  for (let segment = pending.shift(); segment !== undefined; segment = pending.shift()) {
    if (segment.name === '..') {
      if (!(await stat(current)).isDirectory()) return { fault: 'has a ".." behind a file' }
      current = posix.dirname(current)
      continue
    }
    const next = posix.join(current, segment.name)
    if (PER_PROCESS.includes(next))
      return { fault: `leads into ${next}, which differs from process to process` }
    const found = await lookAt(next)
    if (found === undefined) {
      if (segment.linked) return { fault: 'has a symbolic link that leads nowhere' }
      if (pending.some(({ name }) => name === '..')) return { fault: 'has a ".." behind what does not exist' }
      return { path: posix.join(next, ...pending.map(({ name }) => name)) }
    }
    if (!found.isSymbolicLink()) {
      current = next
      continue
    }
    if (refuseLastLink && pending.length === 0) return { fault: 'is a symbolic link itself' }
    links += 1
    if (links > MOST_LINKS) return { fault: 'has symbolic links that lead in circles' }
    const target = await readlink(next)
    if (isAbsolute(target)) current = '/'
    pending.unshift(...segmentsOf(target, true))
  }
  if (/\/\.?$/u.test(whole) && !(await stat(current)).isDirectory())
    return { fault: 'has a slash behind a file' }
  return { path: current }
}

function segmentsOf(path: string, linked: boolean): Segment[] {
  return path
    .split('/')
    .filter(name => name !== '' && name !== '.')
    .map(name => ({ name, linked }))
}

async function lookAt(path: string) {
  try {
    return await lstat(path)
  } catch (error) {
    if (error instanceof Error && codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.message
}
