// Compares what the packages weigh with the limits in sizes.json: what each entry for browsers adds to a page that has zod
// already, bundled, minified and compressed, and each tarball with the number of its files. `--write` sets the limits a
// tenth above what is there. Needs a build.
import { readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { format } from 'prettier'
import { withTarballs } from './tarballs.mjs'

const FILE = 'scripts/sizes.json'
const { browser, tarballs: packed } = JSON.parse(readFileSync(FILE, 'utf8'))
const breaches = []

for (const entry of Object.keys(browser)) {
  // An entry for browsers that needs Node cannot be bundled for one, and fails here.
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${entry}'`, resolveDir: '.' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    external: ['zod'],
    write: false,
    logLevel: 'error',
  })
  compare(browser, entry, { gzipBytes: gzipSync(outputFiles[0].contents).length })
}

await withTarballs(tarballs => {
  for (const { name, bytes, files } of tarballs) compare(packed, name, { bytes, files: files.length })
})

function compare(limits, name, sizes) {
  if (process.argv.includes('--write')) {
    // Sizes are rounded up to whole KiB.
    const limit = (key, size) =>
      key === 'files' ? Math.ceil(size * 1.1) : Math.ceil((size * 1.1) / 1024) * 1024
    limits[name] = Object.fromEntries(Object.entries(sizes).map(([key, size]) => [key, limit(key, size)]))
    return
  }
  for (const [key, size] of Object.entries(sizes)) {
    const limit = limits[name]?.[key]
    if (limit === undefined) breaches.push(`${name}: has no limit of ${key} in ${FILE}`)
    else if (size > limit) breaches.push(`${name}: ${key}: ${size}, of ${limit} at most`)
  }
}

if (process.argv.includes('--write')) {
  writeFileSync(FILE, await format(JSON.stringify({ browser, tarballs: packed }), { filepath: FILE }))
} else if (breaches.length === 0) {
  console.log('no package has outgrown its limits')
}
for (const breach of breaches) console.error(breach)
if (breaches.length > 0) process.exit(1)
