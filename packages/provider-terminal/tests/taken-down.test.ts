import { InboxService } from '@handraise/inbox'
import { UserQuestionError, UserQuestionService, type Question } from '@handraise/user-questions'
import { Context } from 'cordis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lineText } from '../src/line.ts'
import { takenDown } from '../src/taken-down.ts'
import { terminalPerson } from './harness.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  header: 'Store',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
const CACHE: Question = { id: 'cache', question: 'Which cache?' }

const left = (reason: unknown, questions: readonly Question[] = [STORE]): string | undefined => {
  const line = takenDown(reason, questions)
  return line === undefined ? undefined : lineText(line)
}
const aborted = (reason?: string) => new UserQuestionError('ASK_ABORTED', { reason })

describe('what stays of a request that was taken down', () => {
  test.each([
    ['answered by web', 'Answered elsewhere (web): Store'],
    ['declined by web', 'Declined elsewhere (web): Store'],
    ['cancelled by command', 'Dismissed elsewhere (command): Store'],
    ['clarified by thread', 'Replied to elsewhere (thread): Store'],
    ['interrupted by a window of mine', 'Stopped elsewhere (a window of mine): Store'],
  ])('says of %s where it was settled', (reason, line) => {
    expect(left(aborted(reason))).toBe(line)
  })

  test('names every question of it', () => {
    expect(left(aborted('answered by web'), [STORE, CACHE])).toBe(
      'Answered elsewhere (web): Store, Which cache?',
    )
  })

  test.each([
    ['by the asker', aborted()],
    ['by the asker, as the inbox says it', aborted('aborted')],
    ['by time', aborted('timedOut')],
    ['because nobody waits', aborted('nobody waits for it any more')],
    ['by what is no outcome', aborted('constructor by web')],
    ['with its provider', new UserQuestionError('PROVIDER_GONE')],
    ['with an error of the host', new Error('answered by web')],
    ['without a reason', undefined],
  ])('is nothing where it was withdrawn %s', (_, reason) => {
    expect(left(reason)).toBeUndefined()
  })

  test('holds no control code of whoever settled it, nor of the asker', () => {
    const asked = { ...STORE, header: 'St\u001b[2Jore\r' }
    const line = left(aborted('answered by w\u001b]0;x\u0007eb\u202e\n'), [asked]) ?? ''
    expect(line).toContain('\\u001b')
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})

describe.each([
  ['redrawn', false],
  ['plain', true],
])('a %s prompt', (_, plain) => {
  async function asking() {
    const ctx = new Context()
    await ctx.plugin(UserQuestionService)
    const inbox = await ctx.plugin(InboxService)
    onTestFinished(() => void inbox.dispose())
    const person = terminalPerson({ plain })
    ctx.userQuestions.registerProvider(person.provider)
    const stop = new AbortController()
    const ended = ctx.userQuestions.ask({ questions: [STORE], signal: stop.signal }).then(
      () => 'answered',
      (error: unknown) => (error as UserQuestionError).code,
    )
    await vi.waitFor(() => expect(person.screen()).toContain('Which store?'))
    const [request] = (await ctx.inbox.core.list({ state: 'pending' })).requests
    return { person, stop, ended, inbox: ctx.inbox.core, id: request!.id }
  }

  test('says who declined it on another surface, before the asker is told', async () => {
    const { person, ended, inbox, id } = await asking()
    await inbox.decide(id, { outcome: 'declined' }, { commandId: 'c', surface: 'web' })
    expect(await ended).toBe('ASK_DECLINED')
    expect(person.screen()).toMatch(/^Declined elsewhere \(web\): Store$/mu)
    expect(person.screen()).not.toContain('withdrawn')
  })

  test('says nothing of who settled it when the asker withdrew it', async () => {
    const { person, stop, ended } = await asking()
    stop.abort()
    expect(await ended).toBe('ASK_ABORTED')
    await vi.waitFor(() => expect(person.input.isPaused()).toBe(true))
    expect(person.screen()).not.toContain('elsewhere')
    expect(person.screen().includes('The question was withdrawn.')).toBe(plain)
  })
})
