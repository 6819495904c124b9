// Checks every package as it would be published: that the manifests are complete and alike, what publint says of the packed
// one and its files, and how its types resolve. Needs a build.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { breachesOfManifests } from './manifests.mjs'
import { withTarballs } from './tarballs.mjs'

// ESM only, for `moduleResolution: "Bundler"` as cordis itself is.
const NOT_SUPPORTED = new Set(['node10', 'node16-cjs'])

const breaches = breachesOfManifests()
await withTarballs(async tarballs => {
  for (const { name, tarball } of tarballs) {
    // A copy with a buffer of its own.
    const data = new Uint8Array(readFileSync(tarball))
    const { messages, pkg } = await publint({ pack: { tarball: data.buffer }, strict: true })
    breaches.push(
      ...messages.map(message => `${name}: publint: ${formatMessage(message, pkg, { color: false })}`),
    )

    const { types, problems = [] } = await checkPackage(createPackageFromTarballData(data))
    if (!types) breaches.push(`${name}: has no types`)
    breaches.push(
      ...problems
        .filter(({ resolutionKind }) => !NOT_SUPPORTED.has(resolutionKind))
        .map(problem => `${name}: types: ${JSON.stringify(problem)}`),
    )

    const manifest = execFileSync('tar', ['-xOf', tarball, 'package/package.json'], { encoding: 'utf8' })
    if (/@handraise\/source|workspace:|catalog:/u.test(manifest)) {
      breaches.push(`${name}: its packed manifest holds what only the workspace understands`)
    }
  }
  if (breaches.length === 0) console.log(`${tarballs.length} packages can be published`)
})

for (const breach of breaches) console.error(breach)
if (breaches.length > 0) process.exit(1)
