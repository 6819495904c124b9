import type { LearnedIds } from './learned-ids.ts'
import { ruleOf } from './members.ts'
import { isFrame } from './transcript.ts'

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/u

/**
 * All in which a value of the host differs from the one in the transcript, each as the path and what is wrong there. The same
 * members at every level, none more and none less; lists of the same length; each value by the rule of its member.
 */
export function differences(
  transcript: unknown,
  real: unknown,
  ids: LearnedIds,
  path: readonly string[] = [],
  place = '',
): string[] {
  const fault = (message: string): string[] => [`${place}: ${message}`]
  if (typeOf(transcript) !== typeOf(real)) {
    return fault(`${shown(real)} is of the type ${typeOf(real)}, in the transcript ${typeOf(transcript)}`)
  }
  if (Array.isArray(transcript) && Array.isArray(real)) {
    if (transcript.length !== real.length)
      return fault(`has ${real.length} elements, in the transcript ${transcript.length}`)
    return transcript.flatMap((each, index) =>
      differences(each, real[index], ids, path, `${place}[${index}]`),
    )
  }
  if (isFrame(transcript) && isFrame(real)) {
    const within = place === '' ? '' : `${place}.`
    const names = [...new Set([...Object.keys(transcript), ...Object.keys(real)])]
    return names.flatMap(name => {
      if (!Object.hasOwn(real, name)) return [`${within}${name}: is not there`]
      if (!Object.hasOwn(transcript, name)) return [`${within}${name}: is not there in the transcript`]
      return differences(transcript[name], real[name], ids, [...path, name], `${within}${name}`)
    })
  }
  return plainDifferences(transcript, real, ids, path).flatMap(fault)
}

function plainDifferences(
  transcript: unknown,
  real: unknown,
  ids: LearnedIds,
  path: readonly string[],
): string[] {
  const rule = ruleOf(path)
  const isText = typeof transcript === 'string' && typeof real === 'string'
  switch (rule) {
    case 'free':
      return []
    case 'time':
      return !isText || RFC_3339.test(real) ? [] : [`${shown(real)} is no instant of RFC 3339`]
    case 'learned': {
      const fault = isText ? ids.learn(transcript, real) : undefined
      return fault === undefined ? [] : [fault]
    }
    case 'exact': {
      const told = isText ? ids.translate(real) : real
      return told === transcript ? [] : [`is ${shown(told)}, in the transcript ${shown(transcript)}`]
    }
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`
}
