// Packs every package as it would be published. Needs a build.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// The one version of pnpm the project is built with, wherever this is run from.
const PNPM = JSON.parse(readFileSync('package.json', 'utf8')).scripts.pnpm.split(' ')

/** Calls `use` with `{ name, tarball, bytes, files }` for each, and removes them when it has ended. */
export async function withTarballs(use) {
  const directory = mkdtempSync(join(tmpdir(), 'handraise-pack-'))
  try {
    const [command, ...args] = [...PNPM, '-r', '--filter', './packages/*', 'pack', '--json']
    const packed = execFileSync(command, [...args, '--pack-destination', directory], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const tarballs = JSON.parse(packed.slice(packed.indexOf('['))).map(({ name, filename, files }) => ({
      name,
      tarball: filename,
      bytes: statSync(filename).size,
      files: files.map(({ path }) => path),
    }))
    await use(tarballs.toSorted((a, b) => a.name.localeCompare(b.name)))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
