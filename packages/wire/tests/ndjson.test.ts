import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FrameChannel, IncomingFrame } from '../src/channel.ts'
import { ndjsonChannel, type DuplexTransport } from '../src/ndjson.ts'
import { pipe } from './pipe.ts'

const LIMIT = 96

async function read(channel: FrameChannel): Promise<IncomingFrame[]> {
  const frames: IncomingFrame[] = []
  for await (const frame of channel.incoming) frames.push(frame)
  return frames
}

/** What comes of these chunks. */
function receive(chunks: Iterable<string>, limitBytes = LIMIT): Promise<IncomingFrame[]> {
  async function* incoming(): AsyncGenerator<string> {
    yield* chunks
  }
  return read(ndjsonChannel({ incoming: incoming(), write: () => {} }, { limitBytes }))
}

function cut(text: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map(place => place % (text.length + 1)))].toSorted((a, b) => a - b)
  return [0, ...places].map((place, index) => text.slice(place, places[index] ?? text.length))
}

const DONE = Symbol('done')

/** What a promise has come to by now, or undefined. */
function nowOf(promise: Promise<unknown>): Promise<unknown> {
  return Promise.race([promise.then(() => DONE), new Promise(resolve => setImmediate(resolve, undefined))])
}

describe('frames that come', () => {
  const character = fc.oneof(
    fc.constantFrom('a', '"', '{', '}', ',', 'é', '€', '😀', '\ud83d', '\ude00', '\r', '\u2028'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }).filter(text => !text.includes('\n')),
  )
  const line = fc.oneof(
    fc.string({ unit: character, maxLength: 60 }),
    fc.integer({ min: 90, max: 400 }).map(length => ({
      text: `{"jsonrpc":"2.0","id":${length},"method":"m","params":{"t":"${'x'.repeat(length)}"}}`,
      id: length,
    })),
    fc.integer({ min: 33, max: 100 }).map(length => '€'.repeat(length)),
  )

  test('are the same however their text is cut, whatever came too long between them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\n\n', '\n \r\n')), { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.boolean(),
        async (lines, places, isEnded) => {
          const whole = lines
            .map(([each, end]) => (typeof each === 'string' ? each : each.text) + end)
            .join('')
          const text = isEnded ? whole : whole.replace(/[\r\n ]+$/, '')
          const expected = text.split('\n').flatMap((each): IncomingFrame[] => {
            const frame = each.replace(/\r$/, '')
            const known = lines.find(([made]) => typeof made !== 'string' && made.text === frame)?.[0]
            if (Buffer.byteLength(frame) > LIMIT)
              return [typeof known === 'object' ? { tooLong: true, id: known.id } : { tooLong: true }]
            return frame.trim() === '' ? [] : [{ text: frame }]
          })
          expect(await receive(cut(text, places))).toEqual(expected)
          expect(await receive(text)).toEqual(expected)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('may be as long as the limit to the byte, the return before the line end not counted', async () => {
    for (const [unit, bytes] of [
      ['x', 1],
      ['é', 2],
      ['€', 3],
      ['😀', 4],
    ] as const) {
      const longest = unit.repeat(LIMIT / bytes)
      for (const end of ['\n', '\r\n', '']) {
        expect(await receive([longest + end])).toEqual([{ text: longest }])
        expect(await receive([longest, end])).toEqual([{ text: longest }])
        expect(await receive((longest + end).split(''))).toEqual([{ text: longest }])
        expect(await receive([`${longest}x${end}`])).toEqual([{ tooLong: true }])
      }
    }
    const longest = '€'.repeat(LIMIT / 3)
    expect(await receive([`${longest}\r`, 'x\n'])).toEqual([{ tooLong: true }])
  })

  test('take time that grows with their length, not with the number of chunks', async () => {
    const chunks = Array.from({ length: 300_000 }, () => 'x'.repeat(30))
    const [frame, ...more] = await receive([...chunks, '\n'], 10_000_000)
    expect(frame).toEqual({ text: 'x'.repeat(9_000_000) })
    expect(more).toEqual([])
  })

  test('are told too long before they end', async () => {
    const [mine, theirs] = pipe()
    const frames = ndjsonChannel(mine, { limitBytes: LIMIT }).incoming[Symbol.asyncIterator]()
    await theirs.write('x'.repeat(LIMIT + 1))
    expect(await frames.next()).toEqual({ done: false, value: { tooLong: true } })
    const next = frames.next()
    for (let more = 0; more < 100; more += 1) await theirs.write('x'.repeat(10_000))
    await theirs.write('\n{"next":1}\n')
    expect(await next).toEqual({ done: false, value: { text: '{"next":1}' } })
  })

  test('end with what was not ended by a line end', async () => {
    expect(await receive(['{"a":1}\n{"b"', ':2}'])).toEqual([{ text: '{"a":1}' }, { text: '{"b":2}' }])
  })

  test('end without half a line where the transport fails', async () => {
    async function* incoming(): AsyncGenerator<string> {
      yield '{"a":1}\n{"b"'
      throw new Error('the line is dead')
    }
    expect(await read(ndjsonChannel({ incoming: incoming(), write: () => {} }))).toEqual([
      { text: '{"a":1}' },
    ])
  })
})

describe('the id of a frame that is too long', () => {
  const rest = `"params":{"text":"${'x'.repeat(5000)}"}}`
  const idOf = async (head: string, limitBytes = 4096) => (await receive([`${head}${rest}\n`], limitBytes))[0]

  test.each([
    ['{"jsonrpc":"2.0","id":7,"method":"m",', 7],
    [' { "method" : "m" , "id" : "a\\"b" , ', 'a"b'],
    ['{"trace":{"id":1,"list":[{"id":2},"}]"]},"id":3,"method":"m",', 3],
    ['{"\\u0069d":5,"jsonrpc":"2.0",', 5],
    ['{"id":-1,"method":"m",', -1],
  ])('is found in %s', async (head, id) => {
    expect(await idOf(head)).toEqual({ tooLong: true, id })
  })

  test('is that of the request that it answers where it is an answer', async () => {
    const [frame] = await receive(
      [`{"jsonrpc":"2.0","id":7,"result":{"text":"${'x'.repeat(5000)}"}}\n`],
      4096,
    )
    expect(frame).toEqual({ tooLong: true, answerTo: 7 })
  })

  test.each([
    ['nested', '{"trace":{"id":1},"method":"m",'],
    ['nested in what goes on', '{"method":"m","params":{"id":1,"x":{'],
    ['in a text', '{"method":"\\"id\\":1,",'],
    ['twice', '{"id":1,"id":2,"method":"m",'],
    ['null', '{"id":null,"method":"m",'],
    ['a fraction', '{"id":1.5,"method":"m",'],
    ['past what is whole', '{"id":1e999,"method":"m",'],
    ['after what is not JSON', '{\'a\':1,"id":1,"method":"m",'],
    ['after brackets that do not match', '{"a":[},"id":1,"method":"m",'],
    ['in an array', '[{"id":1,"method":"m",'],
    ['of both a request and an answer', '{"id":1,"method":"m","result":1,'],
  ])('is not taken where it stands %s', async (_, head) => {
    expect(await idOf(head)).toEqual({ tooLong: true })
  })

  test('is not taken where neither a method nor a result tells what it is', async () => {
    expect(await receive([`{"id":1,"x":"${'x'.repeat(5000)}"}\n`], 4096)).toEqual([{ tooLong: true }])
  })

  test('is not taken where it is cut off, or further in than 4 KiB', async () => {
    const long = 'x'.repeat(5000)
    expect(await receive([`{"method":"m","id":"${long}"}\n`], 4096)).toEqual([{ tooLong: true }])
    expect(await receive([`{"params":"${long}","id":1,"method":"m"}\n`], 4096)).toEqual([{ tooLong: true }])
    const head = '{"method":"m","pad":"'
    const digits = `${head}${'x'.repeat(4096 - head.length - 9)}","id":12`
    expect(digits).toHaveLength(4096)
    expect(await receive([`${digits}34,"z":"${long}"}\n`], 4096)).toEqual([{ tooLong: true }])
  })
})

describe('frames that are sent', () => {
  test('arrive as they were, in order, and one at a time', async () => {
    let writing = 0
    const written: string[] = []
    const channel = ndjsonChannel({
      incoming: (async function* () {})(),
      async write(chunk) {
        writing += 1
        expect(writing).toBe(1)
        await new Promise(resolve => setImmediate(resolve))
        written.push(chunk)
        writing -= 1
      },
    })
    await Promise.all(['{"a":1}', '{"b":2}', '{"c":3}'].map(frame => channel.send(frame)))
    expect(written).toEqual(['{"a":1}\n', '{"b":2}\n', '{"c":3}\n'])
  })

  test('wait while the other side does not read', async () => {
    const [mine, theirs] = pipe({ highWaterMark: 10 })
    const channel = ndjsonChannel(mine)
    const sent = channel.send('x'.repeat(20))
    expect(await nowOf(sent)).toBeUndefined()
    const frames = ndjsonChannel(theirs).incoming[Symbol.asyncIterator]()
    await frames.next()
    await sent
  })

  test('are refused, and not sent, where they are too long or more than a line', async () => {
    const [mine, theirs] = pipe()
    const channel = ndjsonChannel(mine, { limitBytes: LIMIT })
    const frames = ndjsonChannel(theirs).incoming[Symbol.asyncIterator]()
    await expect(channel.send('€'.repeat(LIMIT / 3 + 1))).rejects.toBeInstanceOf(RangeError)
    await expect(channel.send('{}\n{}')).rejects.toBeInstanceOf(TypeError)
    await channel.send('€'.repeat(LIMIT / 3))
    expect(await frames.next()).toEqual({ done: false, value: { text: '€'.repeat(LIMIT / 3) } })
  })

  test('fail one by one where the transport fails', async () => {
    const channel = ndjsonChannel({
      incoming: (async function* () {})(),
      write: chunk => (chunk.startsWith('bad') ? Promise.reject(new Error('not this')) : undefined),
    })
    await expect(channel.send('bad')).rejects.toThrow('not this')
    await channel.send('good')
  })
})

describe('a channel that is closed', () => {
  const stuck = (): DuplexTransport => ({
    incoming: { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) },
    write: () => new Promise(() => {}),
  })

  test('ends what comes and fails what is being sent, whatever its transport does', async () => {
    const channel = ndjsonChannel(stuck())
    const ended = read(channel)
    const sent = [channel.send('{}'), channel.send('{}')]
    channel.close()
    channel.close()
    for (const each of sent) await expect(each).rejects.toThrow('closed')
    expect(await ended).toEqual([])
    await expect(channel.send('{}')).rejects.toThrow('closed')
  })

  test('gives no frame that had come before', async () => {
    const [mine, theirs] = pipe()
    await theirs.write('{"a":1}\n{"b":2}\n{"c"')
    const channel = ndjsonChannel(mine)
    const seen: IncomingFrame[] = []
    for await (const frame of channel.incoming) {
      seen.push(frame)
      channel.close()
    }
    expect(seen).toEqual([{ text: '{"a":1}' }])
  })

  test('has begun to send what was sent before', async () => {
    const [mine, theirs] = pipe()
    const channel = ndjsonChannel(mine)
    const sent = channel.send('{"bye":1}')
    channel.close()
    await sent.catch(() => {})
    expect(await read(ndjsonChannel(theirs))).toEqual([{ text: '{"bye":1}' }])
  })

  test('is one whose transport may fail to close', async () => {
    const channel = ndjsonChannel({ ...stuck(), close: () => Promise.reject(new Error('no')) })
    channel.close()
    expect(await read(channel)).toEqual([])
  })
})
