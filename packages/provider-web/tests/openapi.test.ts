import { readFileSync } from 'node:fs'
import { openApiDocument, STATUS_OF_CODE } from '@handraise/provider-web'
import { expect, test } from 'vitest'
import { DB, send, serve, TOKEN } from './served.ts'

type Operation = { responses: Record<string, { description: string }>; requestBody?: object }
const document = openApiDocument() as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}

test('the file beside the package is what the schemas say', () => {
  const file = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')
  // Written by `npm run openapi`.
  expect(JSON.parse(file)).toEqual(JSON.parse(JSON.stringify(document)))
})

test('the server gives its own description', async () => {
  const { call } = await serve()
  const { status, json } = await call('GET', '/api/openapi.json')
  expect(status).toBe(200)
  expect(json).toEqual(JSON.parse(JSON.stringify(document)))
})

test('every operation described is served, and no other', async () => {
  const { url } = await serve()
  const headers = { authorization: `Bearer ${TOKEN}` }
  for (const [path, operations] of Object.entries(document.paths)) {
    const { headers: told } = await send(url, 'PUT', path.replace('{id}', 'x'), { headers })
    expect([path, told.allow?.split(', ').toSorted()]).toEqual([
      path,
      Object.keys(operations)
        .map(method => method.toUpperCase())
        .toSorted(),
    ])
  }
})

test('every reference in it leads somewhere', () => {
  const text = JSON.stringify(document)
  for (const [, name] of text.matchAll(/#\/components\/schemas\/(\w+)/gu))
    expect(Object.keys(document.components.schemas)).toContain(name)
  expect(text).not.toContain('__shared')
})

test('every code of the server is described somewhere', () => {
  const described = Object.values(document.paths)
    .flatMap(operations => Object.values(operations))
    .flatMap(({ responses }) => Object.values(responses))
    .flatMap(({ description }) => description.split(', '))
  // What no described operation can meet.
  const elsewhere = ['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'RECORD_CONFLICT', 'STORE_UNREADABLE']
  expect(
    Object.keys(STATUS_OF_CODE)
      .filter(code => !described.includes(code))
      .toSorted(),
  ).toEqual(elsewhere.toSorted())
})

test('what the server replies has the members it describes', async () => {
  const { call } = await serve()
  const { json } = await call('POST', '/api/requests', { questions: [DB] })
  const { properties } = document.components.schemas['Request'] as { properties: object }
  for (const name of Object.keys(json.request)) expect(Object.keys(properties)).toContain(name)
})

test('the README lists every code with its status, and no other', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const listed = [...readme.matchAll(/^\| (\d{3}) \| ([^|]+) \|/gmu)].flatMap(([, status, codes = '']) =>
    [...codes.matchAll(/`(\w+)`/gu)].map(([, code]) => [code, Number(status)]),
  )
  expect(Object.fromEntries(listed)).toEqual(STATUS_OF_CODE)
})
