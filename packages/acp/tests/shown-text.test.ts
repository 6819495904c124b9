import type { RequestPermissionRequest } from '@agentclientprotocol/sdk'
import type { Form } from '@handraise/elicitation'
import type { Question } from '@handraise/user-questions/types'
import { expect, test } from 'vitest'
import { acpProvider } from '../src/index.ts'
import { requestOf } from './asking.ts'
import { connected, FORMS, type ShownForm } from './editor.ts'

/** What an editor is shown of a question, as a form or as a permission, and what its first option answers. */
async function shown(question: Question, kind: 'form' | 'permission') {
  const seen: (ShownForm | RequestPermissionRequest)[] = []
  const { ours } = connected({
    form(form) {
      seen.push(form)
      const field = (form as Form).requestedSchema.properties[question.id]
      const offered = field !== undefined && 'oneOf' in field ? field.oneOf : []
      return { action: 'accept', content: { [question.id]: offered[0]?.const } }
    },
    permission(request) {
      seen.push(request)
      return { outcome: { outcome: 'selected', optionId: request.options[0]?.optionId } }
    },
  })
  const capabilities = kind === 'form' ? FORMS : {}
  const provider = acpProvider(ours.client, { sessionId: 'session-1', capabilities, autoAnswerMs: 0 })
  const { answers } = await provider.ask(requestOf({ questions: [question] }))
  expect(seen).toHaveLength(1)
  return { answers, seen: seen[0] }
}

const KINDS = ['form', 'permission'] as const

test.each(KINDS)('a %s answers with the label as it was offered, whatever it holds', async kind => {
  for (const label of [
    'Yes, always',
    'בחירה (Recommended)',
    'safe\u202etxt.exe',
    'Safe\u001b[2K\u0007\u009b31m',
  ]) {
    const question = { id: 'a', question: 'Go?', options: [{ label }, { label: 'No' }] }
    const { answers } = await shown(question, kind)
    expect(answers).toEqual([{ id: 'a', selected: [label] }])
  }
})

test.each(KINDS)('a %s shows nothing of a text that a screen would obey', async kind => {
  const question: Question = {
    id: 'a',
    question: 'Ok?\r\b\u0000 \u001b]8;;https://example.com\u001b\\here\u001b]8;;\u001b\\',
    header: 'H\u001b[2K',
    detail: 'D\u009b31m\u202e',
    options: [{ label: 'Safe', description: 'A\u001b[1A\u2066' }, { label: 'No' }],
  }
  const texts: string[] = []
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect)
  }
  collect((await shown(question, kind)).seen)
  // Neither C0 but the line feed, nor C1, nor a mark that turns the direction of a text.
  expect(texts.join('')).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u)
  expect(texts.join('')).toContain('u001b')
})

test.each(KINDS)('a %s holds all of a text that is longer than a screen', async kind => {
  const label = 'B'.repeat(200)
  const description = Array.from({ length: 120 }, (_, index) => `word${index}`).join(' ')
  const question = 'Which one of these is it? '.repeat(80).trim()
  const { answers, seen } = await shown(
    { id: 'a', question, options: [{ label, description }, { label: 'C' }] },
    kind,
  )
  expect(answers).toEqual([{ id: 'a', selected: [label] }])
  for (const text of [label, description, question]) expect(JSON.stringify(seen)).toContain(text)
})

test('a permission has no option for words, whoever offered one, and keeps those that only begin so', async () => {
  const labels = ['A', 'Other', 'Something else', 'Other (please specify)']
  const question = { id: 'a', question: 'Which?', options: labels.map(label => ({ label })) }
  const { seen } = await shown(question, 'permission')
  expect((seen as RequestPermissionRequest).options.map(({ name }) => name)).toEqual([
    'A',
    'Something else',
    'Other (please specify)',
    'Skip this question',
  ])
})

test.each(['decline', 'cancel'])('content that comes with a %s is not looked at', async action => {
  const { ours } = connected({ form: () => ({ action, content: { db: { deep: 1 } } }) })
  const provider = acpProvider(ours.client, { sessionId: 's', capabilities: FORMS, autoAnswerMs: 0 })
  const code = action === 'decline' ? 'ASK_DECLINED' : 'ASK_CANCELLED'
  await expect(provider.ask(requestOf())).rejects.toMatchObject({ code })
})
