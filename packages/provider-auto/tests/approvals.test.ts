import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  autoProvider,
  readScript,
  recordingProvider,
  replayProvider,
  type Script,
} from '@handraise/provider-auto'
import type { ProviderRequest, Question } from '@handraise/user-questions'
import { describe, expect, onTestFinished, test } from 'vitest'

const QUESTION: Question = {
  id: 'approval',
  question: 'Allow shell: git status?',
  header: 'shell',
  options: [{ label: 'Allow once' }, { label: 'Deny' }],
}

const approval = (payload: unknown = { toolName: 'shell', subjectName: 'git status' }): ProviderRequest => ({
  id: 'request',
  kind: 'approval',
  payload,
  questions: [QUESTION],
  signal: new AbortController().signal,
  engaged() {},
})

const ask = (script: Script, request = approval(), policy: 'first' | 'recommended' | 'refuse' = 'first') =>
  autoProvider({ script, policy }).ask(request)

describe('an approval', () => {
  test('is answered by a rule that names its tool and its subject', async () => {
    const script = [{ match: { tool: 'shell', subject: 'git status' }, answer: 'Allow once' }]
    expect(await ask(script)).toEqual({
      answers: [{ id: 'approval', selected: ['Allow once'], by: 'policy' }],
    })
    const patterns = readScript([
      { match: { tool: '/sh.*/', subject: '/git (status|log)/' }, answer: 'Deny' },
    ])
    expect((await ask(patterns)).answers[0]?.selected).toEqual(['Deny'])
  })

  test.each<[string, Script]>([
    ['no rule, whatever the policy', []],
    ['the id of its question', { approval: 'Allow once' }],
    ['a rule for the question', [{ match: { question: /./ }, answer: 'Allow once' }]],
    ['a rule for the header', [{ match: { header: 'shell' }, answer: 'Allow once' }]],
    ['a rule that names the tool alone', [{ match: { tool: 'shell' }, answer: 'Allow once' }]],
    ['a rule that names the subject alone', [{ match: { subject: 'git status' }, answer: 'Allow once' }]],
    ['a rule for another tool', [{ match: { tool: 'bash', subject: 'git status' }, answer: 'Allow once' }]],
    ['a rule in another case', [{ match: { tool: 'shell', subject: 'GIT STATUS' }, answer: 'Allow once' }]],
    ['a rule for the beginning', [{ match: { tool: 'shell', subject: 'git' }, answer: 'Allow once' }]],
    ['a pattern for a part', [{ match: { tool: 'shell', subject: /git/ }, answer: 'Allow once' }]],
    ['a function', [() => 'Allow once']],
  ])('is refused with %s', async (_, script) => {
    for (const policy of ['first', 'recommended', 'refuse'] as const) {
      await expect(ask(script, approval(), policy)).rejects.toMatchObject({
        code: 'ASK_UNAVAILABLE',
        details: { reason: 'no-rule' },
      })
    }
  })

  test('whose payload says nothing is covered by no rule', async () => {
    const script = [{ match: { tool: /.*/, subject: /.*/ }, answer: 'Allow once' }]
    for (const payload of [undefined, {}, { toolName: 'shell' }, 'shell'])
      await expect(ask(script, { ...approval(), payload })).rejects.toMatchObject({ code: 'ASK_UNAVAILABLE' })
  })

  test('is no question to a rule of approvals, and a question none to it', async () => {
    const { kind: _, payload: __, ...question } = approval()
    const script = [{ match: { tool: /.*/, subject: /.*/ }, answer: 'Allow once' }]
    await expect(ask(script, question, 'refuse')).rejects.toMatchObject({ code: 'ASK_UNAVAILABLE' })
  })

  test('of a kind nobody here knows is answered by nothing', async () => {
    const script = [{ match: { tool: /.*/, subject: /.*/ }, answer: 'Allow once' }]
    await expect(ask(script, { ...approval(), kind: 'payment' })).rejects.toMatchObject({
      code: 'ASK_UNAVAILABLE',
    })
  })

  test('is neither recorded nor replayed', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'handraise-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const file = join(directory, 'recording.jsonl')
    await appendFile(file, '')
    const person = {
      name: 'person',
      ask: () => Promise.resolve({ answers: [{ id: 'approval', selected: ['Allow once'] }] }),
    }
    await recordingProvider(person, file).ask(approval())
    expect(await readFile(file, 'utf8')).toBe('')
    await appendFile(
      file,
      `${JSON.stringify({ questions: [QUESTION], answers: [{ id: 'approval', selected: ['Allow once'] }] })}\n`,
    )
    await expect((await replayProvider(file)).ask(approval())).rejects.toMatchObject({
      code: 'ASK_UNAVAILABLE',
    })
  })

  test('a script file cannot hold a rule that names half of it', () => {
    expect(() => readScript([{ match: { tool: 'shell' }, answer: 'Allow once' }])).toThrow(
      'both tool and subject',
    )
  })
})
