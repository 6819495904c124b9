import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** No display and no browser, wherever the tests run. */
export const NO_DISPLAY = { DISPLAY: '', WAYLAND_DISPLAY: '', WSL_DISTRO_NAME: '', BROWSER: '' }

/**
 * What opens pages on a desktop, in the place of the real one: it runs `$BROWSER` with the address, which here keeps it
 * in a file, then ends with `exitCode`.
 */
export async function fakeBrowser(exitCode = 0) {
  const directory = await mkdtemp(join(tmpdir(), 'handraise-browser-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const [browser, opened] = [join(directory, 'browser'), join(directory, 'opened')]
  const program = (body: string): string => `#!/bin/sh\n${body}\n`
  await writeFile(browser, program(`printf '%s\\n' "$1" >> '${opened}'; exit ${exitCode}`), { mode: 0o755 })
  await writeFile(join(directory, 'xdg-open'), program(`exec "$BROWSER" "$1"`), { mode: 0o755 })
  return {
    env: { ...NO_DISPLAY, BROWSER: browser, PATH: `${directory}${delimiter}${process.env['PATH']}` },
    opened: async (): Promise<string[]> =>
      (await readFile(opened, 'utf8').catch(() => '')).split('\n').slice(0, -1),
  }
}
