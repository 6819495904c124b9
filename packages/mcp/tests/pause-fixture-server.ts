// A server over its standard streams, for either era: `node pause-fixture-server.mjs FILE SQLITE`, the first the database
// and the beginning of the names beside it, the second the module of better-sqlite3.
import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { openSqliteStore, type SqliteClient } from '@handraise/inbox-sqlite'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { openPauses } from '../src/index.ts'
import { dropServer } from './pause-drop-server.ts'

const [file = '', sqlite = ''] = process.argv.slice(2)
const database = createRequire(import.meta.url)(sqlite) as SqliteClient
const store = await openSqliteStore({ file, database })
const pauses = await openPauses({ store, keyFile: `${file}.mcp-key`, principal: 'ann' })
const build = dropServer(pauses, line => appendFileSync(`${file}.effects`, `${line}\n`))
serveStdio(build, { onerror: error => console.error(error) })
