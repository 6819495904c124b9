import { repairArguments } from '@handraise/tool-ask-user'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const json = fc.jsonValue({ maxDepth: 4 })

describe('repairing', () => {
  test('leaves what has no sure reading as it came', () => {
    for (const sent of [undefined, null, 7, true, 'Which store?', '{"a":', "[{'label': 'A'}]"]) {
      expect(repairArguments(sent)).toBe(sent)
    }
  })

  test('never throws, whatever was sent', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          json,
          json.map(value => JSON.stringify(value)),
        ),
        sent => {
          const nested = { questions: [sent, { options: sent, question: sent, id: sent }] }
          for (const each of [sent, { questions: sent }, nested]) {
            expect(() => repairArguments(each)).not.toThrow()
          }
        },
      ),
    )
  })

  test('changes nothing that it was given', () => {
    fc.assert(
      fc.property(json, sent => {
        const before = structuredClone(sent)
        repairArguments(sent)
        repairArguments({ questions: sent })
        expect(sent).toEqual(before)
      }),
    )
  })

  test('is done after one time', () => {
    fc.assert(
      fc.property(json, sent => {
        const once = repairArguments({ questions: [{ question: 'Go?', options: sent }] })
        expect(repairArguments(once)).toEqual(once)
      }),
    )
  })

  test('never changes a text that people read', () => {
    const text = fc.string().filter(each => !/^\s*[[{]/u.test(each))
    fc.assert(
      fc.property(text, text, text, (question, header, label) => {
        const asked = { id: 'a', question, header, options: [{ label }] }
        expect(repairArguments({ questions: [asked] })).toEqual({ questions: [asked] })
        expect(repairArguments(JSON.stringify({ questions: [{ ...asked, options: [label] }] }))).toEqual({
          questions: [asked],
        })
      }),
    )
  })

  test('gives every unnamed question an id of its own', () => {
    const id = fc.constantFrom(undefined, null, '', 'q1', 'q2', 'q3', 'a')
    fc.assert(
      fc.property(fc.array(id), given => {
        const questions = given.map(each => ({ id: each, question: 'Go?' }))
        const repaired = (repairArguments({ questions }) as { questions: Array<{ id: string }> }).questions
        const made = repaired.filter((_, index) => !given[index]).map(each => each.id)
        expect(new Set([...made, ...given.filter(Boolean)]).size).toBe(
          made.length + new Set(given.filter(Boolean)).size,
        )
      }),
    )
  })
})
