import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { FileThread, type ThreadItem } from '../src/index.ts'

const SPOTS = [
  'before the prompt',
  'within the prompt',
  'after the prompt',
  'before the decision',
  'after the decision',
  'before the resolution',
  'within the resolution',
  'after the resolution',
] as const

let bundles: string
beforeAll(async () => {
  const cache = fileURLToPath(new URL('../.cache/', import.meta.url))
  mkdirSync(cache, { recursive: true })
  bundles = mkdtempSync(join(cache, 'kill-'))
  await build({
    config: false,
    silent: true,
    entry: { worker: fileURLToPath(new URL('fixtures/killed-worker.ts', import.meta.url)) },
    outDir: bundles,
    format: 'esm',
    target: 'node20',
    noExternal: [/^(?!node:)/u],
    outExtension: () => ({ js: '.mjs' }),
    esbuildOptions: options => {
      options.conditions = ['@handraise/source', 'module', 'node', 'import', 'default']
    },
  })
})
afterAll(() => rmSync(bundles, { recursive: true, force: true }))

function makeScene() {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-kill-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const [file, answers] = [join(directory, 'thread.jsonl'), join(directory, 'answers.jsonl')]
  const ada = new FileThread({ file, self: 'ada' })
  const itemsOf = async (type: string): Promise<ThreadItem[]> =>
    (await ada.since(undefined)).items.filter(
      ({ metadata }) => (metadata as { type?: string } | undefined)?.type === type,
    )
  let hasReplied = false
  /** Replies once, when the question is there. */
  const reply = async (): Promise<void> => {
    if (hasReplied || (await itemsOf('pending_prompt')).length === 0) return
    hasReplied = true
    await ada.say('2')
  }
  /** Runs a worker to its end, and tells how it ended. */
  const run = async (killAt = ''): Promise<string> => {
    const child = spawn(process.execPath, [join(bundles, 'worker.mjs'), file, answers, killAt], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let isOver = false
    const ended = once(child, 'close').then(([code, signal]) => {
      isOver = true
      return String(signal ?? code)
    })
    // What is in the thread is looked at, not how long it takes.
    for (; !isOver; await new Promise(resolve => setTimeout(resolve, 10))) await reply()
    return ended
  }
  const given = (): string[] => (existsSync(answers) ? readFileSync(answers, 'utf8').trim().split('\n') : [])
  return { run, given, itemsOf }
}

async function expectRight({ given, itemsOf }: ReturnType<typeof makeScene>): Promise<void> {
  expect(new Set(given())).toEqual(new Set(['{"answers":[{"id":"db","selected":["SQLite"]}]}']))
  expect(await itemsOf('pending_prompt')).toHaveLength(1)
  const resolved = await itemsOf('pending_prompt_resolved')
  expect(resolved).toMatchObject([
    { metadata: { prompt: { prompt_state: 'answered', answers: [{ answer: ['SQLite'] }] } } },
  ])
}

describe('a worker that is killed, with the thread as its only memory', () => {
  test.each(SPOTS)('%s, ends with the one answer and one resolution', async spot => {
    const scene = makeScene()
    expect(await scene.run(spot)).toBe('SIGKILL')
    expect(await scene.run()).toBe('0')
    await expectRight(scene)
  })

  test('at every step, one run after the other, ends with the one answer and one resolution', async () => {
    const scene = makeScene()
    for (const spot of SPOTS.filter(each => !each.startsWith('within')))
      expect([spot, await scene.run(spot)]).toEqual([spot, 'SIGKILL'])
    expect(await scene.run()).toBe('0')
    await expectRight(scene)
  })
})
