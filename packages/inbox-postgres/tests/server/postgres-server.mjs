import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Starts a PostgreSQL of its own. It ends with this process at the latest. */
export async function startPostgres(settings = []) {
  const script = fileURLToPath(new URL('guarded-server.mjs', import.meta.url))
  const guard = spawn(process.execPath, [script, ...settings], { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = []
  let ended
  createInterface({ input: guard.stdout }).on('line', line => waiting.shift()?.resolve(JSON.parse(line)))
  const end = new Promise(resolve => {
    guard.once('exit', code => {
      ended = new Error(`the server's process ended with ${code}`)
      for (const { reject } of waiting.splice(0)) reject(ended)
      resolve()
    })
  })
  const next = () =>
    new Promise((resolve, reject) => {
      if (ended) reject(ended)
      else waiting.push({ resolve, reject })
    })
  const tell = async command => {
    const done = next()
    guard.stdin.write(`${command}\n`)
    await done
  }
  const { url, port } = await next()
  return {
    url,
    port,
    crash: () => tell('crash'),
    start: () => tell('start'),
    restart: () => tell('restart'),
    pause: () => tell('pause'),
    resume: () => tell('resume'),
    async stop() {
      guard.stdin.end()
      await end
    },
  }
}
