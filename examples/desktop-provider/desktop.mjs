import { once } from 'node:events'
import { createServer } from 'node:net'
import { delimiter } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/**
 * A desktop without a screen: its `notify-send` is the first on the PATH until it is closed. `onNotification` is told of
 * each notification that is shown, and `open` holds those that are.
 */
export async function openDesktop(onNotification = () => {}) {
  const open = new Set()
  const sockets = new Set()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Its notify-send was killed.
    socket.on('error', () => {})
    createInterface(socket).once('line', line => show(socket, line))
  })
  const show = (socket, line) => {
    const args = JSON.parse(line)
    const [title, body] = args.slice(args.indexOf('--') + 1)
    const buttons = args
      .filter(arg => arg.startsWith('--action='))
      .map(arg => /^--action=(.*?)=(.*)$/s.exec(arg).slice(1))
    const notification = {
      title,
      body,
      /** The name of each and its text. */
      buttons,
      press: text => socket.end(`${buttons.find(button => button[1] === text)[0]}\n`),
      dismiss: () => socket.end(),
      /** As a desktop whose notifications have no buttons does. */
      refuse: () => socket.resetAndDestroy(),
    }
    open.add(notification)
    socket.on('close', () => {
      open.delete(notification)
      server.emit('change')
    })
    server.emit('change')
    onNotification(notification)
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { PATH } = process.env
  process.env.PATH = `${fileURLToPath(new URL('stand-in', import.meta.url))}${delimiter}${PATH}`
  process.env.STAND_IN_DESKTOP = `${server.address().port}`
  return {
    open,
    /** Resolves with what is open once it is this many notifications. */
    async shows(count) {
      while (open.size !== count) await once(server, 'change')
      return [...open]
    },
    async close() {
      process.env.PATH = PATH
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
