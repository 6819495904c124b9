// Packs every package as it would be published, and checks the tarball: publint for its manifest and files,
// are-the-types-wrong for how it resolves. Needs a build.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

// The one version of pnpm the project is built with, wherever this is run from.
const pnpm = JSON.parse(readFileSync('package.json', 'utf8')).scripts.pnpm.split(' ')
const directory = mkdtempSync(join(tmpdir(), 'handraise-pack-'))
let failed = false

try {
  for (const name of readdirSync('packages')) {
    const cwd = resolve('packages', name)
    const manifest = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))
    for (const file of ['LICENSE', 'README.md']) {
      if (!readdirSync(cwd).includes(file)) fail(`packages/${name}: has no ${file}`)
    }
    const packed = run([...pnpm, 'pack', '--json', '--pack-destination', directory], cwd)
    const tarball = JSON.parse(packed.slice(packed.indexOf('{'))).filename
    check(name, 'publint', ['exec', 'publint', 'run', '--strict', tarball], cwd)
    // ESM only, for `moduleResolution: "Bundler"` as cordis itself is.
    check(name, 'attw', ['exec', 'attw', tarball, '--profile', 'esm-only'], cwd)
    const packedManifest = run(['tar', '-xOf', tarball, 'package/package.json'], cwd)
    if (/@handraise\/source|workspace:|catalog:/u.test(packedManifest)) {
      fail(`packages/${name}: its packed manifest holds what only the workspace understands`)
    }
    console.log(`${manifest.name}: checked`)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function check(name, tool, args, cwd) {
  try {
    run([...pnpm, ...args], cwd)
  } catch (error) {
    fail(`packages/${name}: ${tool}:\n${error.stdout}${error.stderr}`)
  }
}

function run([command, ...args], cwd) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

function fail(message) {
  console.error(message)
  failed = true
}

if (failed) process.exit(1)
