/** Where a value is not plain JSON, and why. */
export interface JsonFault {
  readonly path: readonly (string | number)[]
  readonly message: string
}

export interface JsonBounds {
  /** How many arrays and objects may stand within each other. */
  readonly depth: number
  /** How many values there may be in all, and how many UTF-16 units of text in names and strings. */
  readonly size: number
}

interface Visit {
  readonly value: unknown
  readonly path: readonly (string | number)[]
}

/**
 * The first reason why a value is not JSON to the letter: `undefined`, `-0`, `NaN`, an infinity, a bigint, a symbol, a
 * function, an instance of a class, an accessor, a hole in an array, a value that writes itself its own way (`toJSON`),
 * more than the bounds allow, or a circle. None: `JSON.stringify` loses nothing of it, and two such values that differ are
 * written differently.
 */
export function findJsonFault(value: unknown, bounds: JsonBounds): JsonFault | undefined {
  const pending: Visit[] = [{ value, path: [] }]
  let size = 0
  // A loop, not a recursion: what is too deep is found, and exhausts nothing.
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { path } = visit
    size += 1 + (typeof visit.value === 'string' ? visit.value.length : 0)
    size += typeof path.at(-1) === 'string' ? String(path.at(-1)).length : 0
    if (size > bounds.size)
      return { path: [], message: `holds more than ${bounds.size} values and characters` }
    const tooMuch = { path: [], message: `holds more than ${bounds.size} values and characters` }
    if (size > bounds.size || (Array.isArray(visit.value) && visit.value.length > bounds.size)) return tooMuch
    const message = faultOf(visit.value)
    if (message !== undefined) return { path, message }
    if (typeof visit.value !== 'object' || visit.value === null) continue
    if (path.length >= bounds.depth)
      return { path: [], message: `is nested deeper than ${bounds.depth} levels` }
    const members = Object.entries(visit.value)
    if (members.length > bounds.size) return tooMuch
    const isArray = Array.isArray(visit.value)
    for (const [name, member] of members.toReversed())
      pending.push({ value: member, path: [...path, isArray ? Number(name) : name] })
  }
  return undefined
}

function faultOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      if (!Number.isFinite(value)) return 'is not a finite number'
      return Object.is(value, -0) ? 'is -0, which JSON cannot tell from 0' : undefined
    case 'object':
      return value === null ? undefined : faultOfObject(value)
    default:
      return `is ${typeof value}, which JSON cannot hold`
  }
}

function faultOfObject(value: object): string | undefined {
  const isArray = Array.isArray(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  // The prototype of plain objects of another realm is another one, and like ours has none of its own.
  const isPlain = prototype === null || isArray || Object.getPrototypeOf(prototype) === null
  if (!isPlain) return 'is an instance of a class, which JSON cannot hold'
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return 'has its own toJSON'
  const descriptors = Object.getOwnPropertyDescriptors(value)
  for (const key of Reflect.ownKeys(descriptors)) {
    if (isArray && key === 'length') continue
    if (typeof key === 'symbol') return 'has a member that is named by a symbol'
    const descriptor = (descriptors as PropertyDescriptorMap)[key]
    if (descriptor?.enumerable !== true || !('value' in descriptor))
      return 'has a member that is computed or hidden'
    if (isArray && !isIndex(key, value.length)) return 'is an array with a named member'
  }
  if (isArray && Object.keys(value).length !== value.length) return 'is an array with holes'
  return undefined
}

function isIndex(key: string, length: number): boolean {
  const index = Number(key)
  return Number.isInteger(index) && index >= 0 && index < length && String(index) === key
}
