import { UserQuestionError, type Question } from '@handraise/user-questions/types'
import { describe, expect, test } from 'vitest'
import { askByForm, type Form } from '../src/index.ts'

const STORE: Question = {
  id: 'db',
  question: 'Which store?',
  header: 'Store',
  options: [{ label: 'Postgres' }, { label: 'SQLite' }],
}
const NAME: Question = { id: 'name', question: 'What is it called?' }

/** A client that gives these replies, one a form, and the forms it was shown. */
function client(...replies: unknown[]) {
  const forms: Form[] = []
  const show = (form: Form): Promise<unknown> => {
    forms.push(form)
    return Promise.resolve(replies[forms.length - 1])
  }
  return { forms, ask: (...questions: Question[]) => askByForm(questions, 'folded', show) }
}

const accept = (content?: unknown) => ({ action: 'accept', ...(content === undefined ? {} : { content }) })

describe('a form', () => {
  test('that is accepted brings the answers', async () => {
    const { ask } = client(accept({ db: 'SQLite' }))
    expect(await ask(STORE)).toEqual({ answers: [{ id: 'db', selected: ['SQLite'] }] })
  })

  test.each([
    ['decline', 'ASK_DECLINED'],
    ['cancel', 'ASK_CANCELLED'],
  ])('ends by %s as %s, whatever comes with it', async (action, code) => {
    const { ask, forms } = client({ action, content: { db: { deep: ['SQLite'] } } })
    await expect(ask(STORE)).rejects.toMatchObject({ code })
    expect(forms).toHaveLength(1)
  })

  test.each([[{ action: 'reject' }], [{ action: 7 }], [{}], [null], ['accept']])(
    'that comes back with %j was not answered',
    async reply => {
      const ended = await client(reply)
        .ask(STORE)
        .catch((error: unknown) => error)
      expect(ended).toBeInstanceOf(Error)
      expect(UserQuestionError.isInstance(ended)).toBe(false)
    },
  )

  test('that cannot be shown ends as the client does', async () => {
    const gone = new Error('gone')
    await expect(askByForm([STORE], 'native', () => Promise.reject(gone))).rejects.toBe(gone)
  })
})

describe('content that is no answer', () => {
  test('is asked for again with the reason, and what may stand is kept', async () => {
    const { ask, forms } = client(accept({ db: 'MySQL', name: 'Ada' }), accept({ db: 'SQLite', name: 'Ada' }))
    await ask(STORE, NAME)
    expect(forms).toHaveLength(2)
    expect(forms[1]?.message).toMatch(
      /^That is no answer yet\. Store: "MySQL" was not offered; offered: "Postgres", "SQLite"\n\n1\. Which store\?/u,
    )
    expect(forms[1]?.requestedSchema.properties.name?.default).toBe('Ada')
    expect(forms[1]?.requestedSchema.properties.db).not.toHaveProperty('default')
  })

  test('is missing where an accepted form has none', async () => {
    const { ask, forms } = client(accept(), accept({}))
    expect(await ask(STORE)).toEqual({ answers: [{ id: 'db', selected: [] }] })
    expect(forms[1]?.message).toContain('an accepted form comes with its content, an object')
  })

  test('is not lost when the person dismisses the second form', async () => {
    const { ask } = client(accept({ db: 'MySQL', name: 'Ada' }), { action: 'cancel' })
    const answers = [{ id: 'name', selected: [], custom: 'Ada' }]
    await expect(ask(STORE, NAME)).rejects.toMatchObject({ code: 'ASK_CANCELLED', details: { answers } })
  })

  test('drops a default that a client would fill in again and again', async () => {
    const question = { ...STORE, default: { selected: ['Postgres'] } }
    const { ask, forms } = client(
      accept({ db: 'Postgres', db__other: 'a new one' }),
      accept({ db__other: 'a new one' }),
    )
    expect(await ask(question)).toEqual({ answers: [{ id: 'db', selected: [], custom: 'a new one' }] })
    expect(forms.map(form => form.requestedSchema.properties.db?.default)).toEqual(['Postgres', undefined])
  })

  test('is asked for three times and no more', async () => {
    const { ask, forms } = client(...Array.from({ length: 9 }, () => accept({ db: 'MySQL' })))
    await expect(ask(STORE)).rejects.toThrow('no answer after 3 rounds: db: "MySQL" was not offered')
    expect(forms).toHaveLength(3)
  })
})
