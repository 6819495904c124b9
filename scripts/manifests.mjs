// What the manifests of the packages have in common. Each rule gives what is wrong with one, by its name.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const SOURCE = '@handraise/source'
const KEYS = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'sideEffects',
  'engines',
  'bin',
  'files',
  'exports',
  'publishConfig',
  'scripts',
  'dependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'devDependencies',
  'optionalDependencies',
]
const DEPENDENCIES = ['dependencies', 'peerDependencies', 'devDependencies', 'optionalDependencies']
// Where the repository is, once that is known: in all of them, or in none.
const PLACE = ['repository', 'homepage', 'bugs']

/** Every breach of a rule, as `packages/name: what`. */
export function breachesOfManifests() {
  const root = JSON.parse(readFileSync('package.json', 'utf8'))
  const license = readFileSync('LICENSE', 'utf8')
  const packages = readdirSync('packages').map(name => {
    const directory = join('packages', name)
    return { name, directory, manifest: JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) }
  })
  const [first] = packages
  const ranges = new Map()

  return packages.flatMap(({ name, directory, manifest }) => {
    const wrong = []
    const expect = (fine, what) => {
      if (!fine) wrong.push(`${directory}: ${what}`)
    }
    const same = (key, value) =>
      expect(isSame(manifest[key], value), `its ${key} is not ${JSON.stringify(value)}`)

    same('name', name === 'handraise' ? name : `@handraise/${name}`)
    same('version', first.manifest.version)
    same('license', root.license)
    same('type', 'module')
    same('sideEffects', false)
    same('engines', root.engines)
    expect(/^[A-Z].*\.$/u.test(manifest.description ?? ''), 'its description is no sentence')
    expect(manifest.files?.includes('dist'), 'its files lack dist')
    expect(manifest.scripts?.build !== undefined, 'has no script build')
    const keys = Object.keys(manifest).filter(key => !PLACE.includes(key))
    const known = KEYS.filter(key => keys.includes(key))
    expect(isSame(keys, known), `its keys are not, in this order, ${known.join(', ')}`)
    for (const key of PLACE)
      expect(key in manifest === key in first.manifest, `${key} is in some manifests and not in others`)

    // What is published is what is built; the source is for the workspace alone.
    const published = Object.fromEntries(
      Object.entries(manifest.exports ?? {}).map(([path, target]) => {
        const { [SOURCE]: source, ...rest } = typeof target === 'string' ? {} : target
        if (source !== undefined) expect(existsSync(join(directory, source)), `${source} is not there`)
        return [path, typeof target === 'string' ? target : rest]
      }),
    )
    same('publishConfig', { access: 'public', exports: published })
    expect(published['./package.json'] !== undefined, 'does not export its package.json')

    for (const kind of DEPENDENCIES) {
      for (const [dependency, range] of Object.entries(manifest[kind] ?? {})) {
        if (/^(?:@handraise\/|handraise$)/u.test(dependency)) {
          expect(range === 'workspace:*', `${dependency} is not workspace:*`)
          continue
        }
        if (kind !== 'peerDependencies')
          expect(/^(?:catalog:|\d)/u.test(range), `${kind}: ${dependency} has no exact version`)
        // One range for all that have it: two copies of a library do not know each other.
        const use = `${kind === 'peerDependencies' ? 'peer ' : ''}${dependency}`
        if (!ranges.has(use)) ranges.set(use, range)
        expect(ranges.get(use) === range, `${use}: ${range}, where others have ${ranges.get(use)}`)
      }
    }

    const isThere = file => existsSync(join(directory, file))
    expect(
      isThere('LICENSE') && readFileSync(join(directory, 'LICENSE'), 'utf8') === license,
      'its LICENSE is another',
    )
    const title = isThere('README.md')
      ? readFileSync(join(directory, 'README.md'), 'utf8').split('\n')[0]
      : undefined
    expect(title === `# ${manifest.name}`, `its README.md does not begin with # ${manifest.name}`)
    return wrong
  })
}

function isSame(left, right) {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return left === right
  const [keys, others] = [Object.keys(left), Object.keys(right)]
  return (
    keys.length === others.length &&
    keys.every((key, at) => key === others[at] && isSame(left[key], right[key]))
  )
}
