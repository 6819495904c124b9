// Installs everything at the versions of the lockfile, and builds. Native modules are compiled against the headers that
// came with this Node where they did, so that none need be fetched; a native module that cannot be built is left out, and
// what needs it says so.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const pnpm = JSON.parse(readFileSync('package.json', 'utf8')).scripts.pnpm.split(' ')
const prefix = dirname(dirname(process.execPath))
const hasHeaders = existsSync(join(prefix, 'include', 'node', 'node.h'))
const env = { ...process.env, ...(hasHeaders ? { npm_config_nodedir: prefix } : {}) }

for (const args of [
  ['install', '--frozen-lockfile'],
  ['-r', 'run', 'build'],
]) {
  const [command, ...first] = pnpm
  execFileSync(command, [...first, ...args], { stdio: 'inherit', env })
}
