import { noticeOf, type NoticedRequest } from '@handraise/notices'
import { expect, test } from 'vitest'
import { DB } from './told.ts'

const REQUEST: NoticedRequest = {
  id: 'r',
  kind: 'questions',
  session: 's',
  agent: 'main',
  questions: [DB, { id: 'why', question: 'Why?', detail: 'At\nlength.' }],
  openedAt: 1_000,
  deadline: 2_000,
}

test('a notice holds counts and headers, and no text', () => {
  expect(noticeOf(REQUEST)).toEqual({
    event: 'opened',
    id: 'r',
    kind: 'questions',
    session: 's',
    agent: 'main',
    count: 2,
    headers: ['Database'],
    openedAt: 1_000,
    deadline: 2_000,
  })
  expect(JSON.stringify(noticeOf(REQUEST))).not.toMatch(/Which|Postgres|Why/u)
})

test('a notice holds the texts where they are asked for', () => {
  expect(noticeOf(REQUEST, { text: true }).questions).toEqual([
    { question: 'Which database?', header: 'Database', options: ['Postgres', 'SQLite'] },
    { question: 'Why?', detail: 'At\nlength.' },
  ])
})

test('a notice leaves out what there is not', () => {
  const bare = { id: 'r', kind: 'odd', session: '', questions: [], openedAt: 1 }
  expect(noticeOf(bare)).toEqual({
    event: 'opened',
    id: 'r',
    kind: 'odd',
    count: 0,
    headers: [],
    openedAt: 1,
  })
})

test('a notice holds no control code of the asker', () => {
  const evil =
    'Safe\u001b[2K\u001b[1A\u001b]0;x\u0007\u009b31mFAKE\u202e\r\b\u0000\u001b]8;;http://x\u0007\ud800'
  const notice = noticeOf(
    {
      ...REQUEST,
      session: evil,
      agent: evil,
      questions: [{ id: 'q', header: evil, question: evil, detail: evil, options: [{ label: evil }] }],
    },
    { text: true },
  )
  const strings: string[] = []
  JSON.stringify(notice, (_, value: unknown) => {
    if (typeof value === 'string') strings.push(value)
    return value
  })
  expect(strings.filter(text => /[\p{Cc}\p{Cf}\p{Cs}]/u.test(text))).toEqual([])
  expect(notice.headers[0]).toContain('Safe\\u001b[2K')
})
