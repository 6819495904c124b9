// A process that writes to a store and says on stdout what was acknowledged, one line each, at once.
import { writeSync } from 'node:fs'
import { openPostgresStore } from '@handraise/inbox-postgres'
import { opening, settling } from './samples.ts'

const [url = '', schema = '', name = '', count = '0', lanes = '1'] = process.argv.slice(2)
const store = await openPostgresStore({ url, schema })
let next = 0

async function lane(): Promise<void> {
  while (next < Number(count)) {
    const id = `${name}-${next}`
    next += 1
    const { status } = await store.open(opening(id, { key: id }))
    writeSync(1, `${status} ${id}\n`)
    if (next % 2 === 0) continue
    const settled = await store.settle(settling(id))
    writeSync(1, `${settled.status} ${id}\n`)
  }
}

await Promise.all(Array.from({ length: Number(lanes) }, lane))
await store.close()
