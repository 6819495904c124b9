// Imports point only downwards: a package may use packages of a lower band, never of its own or a higher one.
// What a package's source imports must also be among its dependencies. Prints every breach and exits 1.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const BANDS = [
  ['handraise'],
  ['wire', 'mcp', 'acp', 'thread', 'provider-web', 'telemetry'],
  ['user-approvals', 'inbox-sqlite', 'inbox-postgres', 'notices'],
  ['inbox', 'tool-ask-user', 'elicitation', 'provider-terminal', 'provider-auto'],
  ['user-questions', 'agents', 'tools'],
]
// The core stands on these alone.
const CORE = { package: 'user-questions', mayUse: ['cordis', 'zod'] }

const bandOf = new Map(BANDS.flatMap((names, band) => names.map(name => [name, band])))
const breaches = []

for (const name of readdirSync('packages')) {
  if (!bandOf.has(name)) {
    breaches.push(`packages/${name}: is in no band; add it to scripts/check-layers.mjs`)
    continue
  }
  const manifest = JSON.parse(readFileSync(join('packages', name, 'package.json'), 'utf8'))
  const declared = new Set(
    Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies }),
  )
  const bundled = new Set([manifest.name, ...declared, ...Object.keys(manifest.devDependencies ?? {})])
  // The command and the page are bundled: what they alone use is needed only to build them.
  checkFiles(name, join('packages', name, 'src'), name === 'handraise' ? bundled : declared)
  checkFiles(name, join('packages', name, 'page', 'src'), bundled)
}

function checkFiles(name, directory, declared) {
  if (!existsSync(directory)) return
  for (const file of sourceFiles(directory)) {
    const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'))
    for (const { fileName } of importedFiles) checkImport(name, file, fileName, declared)
  }
}

function checkImport(name, file, specifier, declared) {
  if (specifier.startsWith('node:')) return
  if (specifier.startsWith('.')) {
    const leaves = join(file, '..', specifier).split('/').slice(0, 2).join('/') !== `packages/${name}`
    if (leaves) breaches.push(`${file}: reaches into another package by path: ${specifier}`)
    return
  }
  const dependency = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  if (!declared.has(dependency))
    breaches.push(`${file}: ${dependency} is not among the package's dependencies`)
  // The page is built of what its own package offers to browsers.
  if (dependency === `@handraise/${name}` && file.includes('/page/')) return
  const sibling = dependency.startsWith('@handraise/') ? dependency.slice('@handraise/'.length) : undefined
  if (sibling !== undefined && bandOf.get(sibling) <= bandOf.get(name)) {
    breaches.push(`${file}: imports ${dependency}, which is not in a lower band`)
  }
  if (name === CORE.package && !CORE.mayUse.includes(dependency)) {
    breaches.push(`${file}: ${name} may use ${CORE.mayUse.join(' and ')} alone, not ${dependency}`)
  }
}

function sourceFiles(directory) {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && /\.tsx?$/u.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
}

for (const breach of breaches) console.error(breach)
if (breaches.length > 0) process.exit(1)
console.log('imports point downwards')
