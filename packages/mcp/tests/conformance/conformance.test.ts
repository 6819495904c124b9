import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Pauses } from '@handraise/mcp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { bothEras, listen } from './both-eras.ts'
import { fixtureServer } from './fixtures.ts'

const cwd = fileURLToPath(new URL('.', import.meta.url))
const run = promisify(execFile)
const checksSchema = z.array(
  z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }),
)

/** What the published runner finds about one scenario: each check that is more than a note, and how it went. */
async function checksOf(...args: readonly string[]): Promise<Record<string, string>> {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-conformance-'))
  try {
    // A check that fails ends it with a code of its own; the checks themselves say more.
    const said = await run(process.execPath, ['runner-fixture.mjs', ...args, '-o', directory], { cwd }).catch(
      (error: { stdout: string; stderr: string }) => error,
    )
    const [folder] = readdirSync(directory)
    if (folder === undefined) throw new Error(`the runner left no results: ${said.stdout}${said.stderr}`)
    const text = readFileSync(join(directory, folder, 'checks.json'), 'utf8')
    const checks = checksSchema.parse(JSON.parse(text)).filter(({ status }) => status !== 'INFO')
    return Object.fromEntries(
      checks.map(({ id, status, errorMessage = '' }) => [id, `${status} ${errorMessage}`.trim()]),
    )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function expectGreen(checks: Record<string, string>, atLeast: number): void {
  expect(Object.keys(checks).length).toBeGreaterThanOrEqual(atLeast)
  expect(new Set(Object.values(checks)), JSON.stringify(checks, null, 2)).toEqual(new Set(['SUCCESS']))
}

// Each scenario is a process of its own; two at a time keep two cores busy.
describe.concurrent(
  'a server of this package passes the published conformance scenario',
  { timeout: 60_000 },
  () => {
    let server: Awaited<ReturnType<typeof listen>>
    beforeAll(async () => {
      const pauses = new Pauses()
      server = await listen(bothEras(() => fixtureServer(pauses)))
    })
    afterAll(() => server.close())

    test.each([
      ['basic-elicitation', 2],
      ['basic-sampling', 2],
      ['basic-list-roots', 2],
      ['request-state', 2],
      ['multiple-input-requests', 2],
      ['multi-round', 3],
      ['missing-input-response', 1],
      ['non-tool-request', 2],
      ['result-type', 1],
      ['unsupported-methods', 1],
      ['tampered-state', 1],
      ['capability-check', 1],
      ['ignore-extra-params', 1],
      ['validate-input', 2],
    ])('input-required-result-%s', async (name, atLeast) => {
      const checks = await checksOf(
        'server',
        '--url',
        server.url.href,
        '--scenario',
        `input-required-result-${name}`,
        '--spec-version',
        '2026-07-28',
      )
      expectGreen(checks, atLeast)
    })

    test.each([
      ['tools-call-elicitation', 1],
      ['elicitation-sep1034-defaults', 5],
      ['elicitation-sep1330-enums', 5],
      ['dns-rebinding-protection', 2],
    ])('%s', async (name, atLeast) => {
      const checks = await checksOf('server', '--url', server.url.href, '--scenario', name)
      expectGreen(checks, atLeast)
    })
  },
)

describe.concurrent(
  'the official client passes the published conformance scenario',
  { timeout: 60_000 },
  () => {
    test.each([
      ['sep-2322-client-request-state', 5],
      ['elicitation-sep1034-client-defaults', 5],
    ])('%s', async (name, atLeast) => {
      expectGreen(
        await checksOf('client', '--command', 'node client-fixture.mjs', '--scenario', name),
        atLeast,
      )
    })
  },
)
