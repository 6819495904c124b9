// A host of its own for each client, as `handraise wire` is one for the process that starts it.
import { fileURLToPath } from 'node:url'
import { spawnHost } from '@handraise/wire'
import { connect } from '@handraise/wire/client'

// Where the command is installed, `command: 'handraise', args: ['wire', …]` does.
const handraise = fileURLToPath(new URL('dist/cli.js', import.meta.resolve('handraise/package.json')))
const agent = fileURLToPath(new URL('agent.mjs', import.meta.url))

/** Starts a host on this database and shakes hands. `shown` is the first question that it asks. */
export async function open(db) {
  const args = [handraise, 'wire', '--db', db, '--agent', agent]
  const host = await spawnHost({ command: process.execPath, args })
  let show
  const shown = new Promise(resolve => (show = resolve))
  const client = await connect(host.channel, {
    clientInfo: { name: 'wire_answer', version: '1.0.0' },
    onRequest({ method, params }) {
      if (method === 'userInput/request') show(params)
      // "I am showing this", and not the answer.
      return {}
    },
  })
  return { host, client, shown }
}

/** The parameters of the next notification of a method for which `holds` is true. */
export function next(client, method, holds = () => true) {
  return new Promise(resolve => {
    const stop = client.onEvent(event => {
      if (event.method !== method || !holds(event.params)) return
      stop()
      resolve(event.params)
    })
  })
}
