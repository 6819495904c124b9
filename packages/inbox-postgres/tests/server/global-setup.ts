import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { startPostgres, type PostgresServer } from './postgres-server.mjs'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Tells where the database server of this run is, and starts it for whoever asks first. */
    postgresDesk: string
  }
}

/** One server for all tests that want one; a run in which none does starts none. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<PostgresServer> | undefined
  const desk = createServer((_, response) => {
    starting ??= startPostgres()
    starting.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  }).listen(0, '127.0.0.1')
  await once(desk, 'listening')
  project.provide('postgresDesk', `http://127.0.0.1:${(desk.address() as AddressInfo).port}`)
  return async () => {
    desk.closeAllConnections()
    desk.close()
    await (await starting?.catch(() => undefined))?.stop()
  }
}
