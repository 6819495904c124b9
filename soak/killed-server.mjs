// An inbox server that kills itself, as a machine that loses power would: when its database is about to run, or has just
// run, a statement of the phase it was given, for the nth time. `node killed-server.mjs FILE PHASE COUNT`
import { writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { InboxService } from '@handraise/inbox'
import { openSqliteStore } from '@handraise/inbox-sqlite'
import * as providerWeb from '@handraise/provider-web'
import { UserQuestionService } from '@handraise/user-questions'
import { Context } from 'cordis'

const [file, wanted, count] = process.argv.slice(2)

const PHASES = [
  { phase: 'open', pattern: /^INSERT INTO requests/u },
  { phase: 'settle', pattern: /^UPDATE requests SET settled/u },
  { phase: 'log', pattern: /^INSERT INTO log/u },
  { phase: 'commit', pattern: /^COMMIT/u },
]

let left = Number(count)

function reach(phase) {
  if (phase !== wanted) return
  left -= 1
  if (left > 0) return
  writeSync(1, `killed in ${phase}\n`)
  process.kill(process.pid, 'SIGKILL')
  // The signal is delivered on the way out of the kernel; nothing after this runs.
  for (;;);
}

class KilledDatabase extends Database {
  prepare(sql) {
    const statement = super.prepare(sql)
    const { phase } = PHASES.find(({ pattern }) => pattern.test(sql)) ?? {}
    if (phase === undefined) return statement
    return new Proxy(statement, {
      get(target, name) {
        const value = Reflect.get(target, name, target)
        if (name !== 'run') return typeof value === 'function' ? value.bind(target) : value
        return (...values) => {
          reach(phase)
          const result = target.run(...values)
          reach(`after ${phase}`)
          return result
        }
      },
    })
  }
}

const ctx = new Context()
await ctx.plugin(UserQuestionService)
await ctx.plugin(InboxService, { store: await openSqliteStore({ file, database: KilledDatabase }) })
await ctx.plugin(providerWeb, {
  token: 'for-this-run-only',
  onListening: ({ url }) => writeSync(1, `${JSON.stringify({ url })}\n`),
})
