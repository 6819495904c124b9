// Start-up of the built command against bare node, as whole processes, in turns; the median of 30 counts.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'

const RUNS = 30

const request = JSON.stringify({
  questions: [{ id: 'db', question: 'Which store?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] }],
})
const cli = createRequire(import.meta.url)
  .resolve('handraise/package.json')
  .replace('package.json', 'dist/cli.js')

function time(args, input) {
  const started = process.hrtime.bigint()
  const { status, stderr } = spawnSync(process.execPath, args, { input })
  if (status !== 0) throw new Error(`node ${args.join(' ')}: exit ${status}: ${String(stderr)}`)
  return Number(process.hrtime.bigint() - started) / 1e6
}

const median = times => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]

export function run() {
  const bare = []
  const command = []
  for (let count = -3; count < RUNS; count += 1) {
    const bareTime = time(['-e', '0'], '')
    const commandTime = time([cli, 'ask', '-', '--policy', 'first'], request)
    if (count < 0) continue
    bare.push(bareTime)
    command.push(commandTime)
  }
  const [bareMs, commandMs] = [median(bare), median(command)]
  console.log('start-up, median of', RUNS)
  console.log(`  node -e 0                      ${bareMs.toFixed(1).padStart(7)} ms`)
  console.log(
    `  handraise ask - --policy first ${commandMs.toFixed(1).padStart(7)} ms   ${(commandMs / bareMs).toFixed(2)} x`,
  )
}
