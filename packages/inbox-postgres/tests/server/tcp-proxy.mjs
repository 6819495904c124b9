import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * Stands between a host and its database, and does what a bad network does. Bytes that are held back are kept and go on in
 * their order when it is mended; those of a connection that is cut are lost.
 */
export async function startProxy(port) {
  const pairs = new Set()
  let mode = { toServer: true, toClient: true, delayMs: 0 }
  let deaf = false
  let made = 0

  const server = createServer({ allowHalfOpen: true }, client => {
    made += 1
    if (deaf) {
      // Accepted by the system, and answered by nobody.
      client.on('error', () => {})
      pairs.add({ cut: () => client.destroy(), flush() {}, stall() {} })
      return
    }
    const database = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const pair = {
      cut() {
        client.destroy()
        database.destroy()
        pairs.delete(pair)
      },
      flush() {
        client.resume()
        up.flush()
        down.flush()
      },
      stall: () => client.pause(),
    }
    pairs.add(pair)
    const up = pipe(client, database, 'toServer')
    const down = pipe(database, client, 'toClient')
    for (const socket of [client, database]) {
      socket.setNoDelay(true)
      socket.on('error', () => pair.cut())
      socket.on('close', () => pair.cut())
    }
  })

  function pipe(from, to, direction) {
    const held = []
    let timer
    const flush = () => {
      while (held.length > 0 && mode[direction] && held[0].at <= performance.now()) {
        const { data } = held.shift()
        if (to.destroyed) continue
        if (data === null) to.end()
        else to.write(data)
      }
      clearTimeout(timer)
      if (held.length > 0 && mode[direction]) {
        timer = setTimeout(flush, Math.max(1, held[0].at - performance.now()))
      }
    }
    const hold = data => {
      held.push({ data, at: performance.now() + mode.delayMs })
      flush()
    }
    from.on('data', hold)
    from.on('end', () => hold(null))
    from.on('close', () => clearTimeout(timer))
    return { flush }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    /** How many connections go through. */
    get connections() {
      return pairs.size
    },
    /** How many were ever made. */
    get made() {
      return made
    },
    /** Ends every connection at once. */
    cut() {
      for (const pair of pairs) pair.cut()
    },
    /** Lets no byte through, and tells nobody. `direction` alone: `toServer` or `toClient`. */
    hold(direction) {
      mode = {
        ...mode,
        toServer: direction === 'toClient',
        toClient: direction === 'toServer',
      }
      deaf = direction === undefined
    },
    /** Takes nothing more from the hosts, until it is mended: what they send stays with them once the system’s buffers are full. */
    stall() {
      for (const pair of pairs) pair.stall()
    },
    /** Delivers every byte so much later. */
    slow(delayMs) {
      mode = { ...mode, delayMs }
    },
    /** Delivers what was held back, and goes on as a good network does. */
    mend() {
      mode = { toServer: true, toClient: true, delayMs: 0 }
      deaf = false
      for (const pair of pairs) pair.flush()
    },
    async stop() {
      for (const pair of pairs) pair.cut()
      server.close()
      await once(server, 'close')
    },
  }
}
