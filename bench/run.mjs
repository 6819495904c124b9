// `npm run bench [name]`: every benchmark, or those whose file name holds `name`. Needs a build.
import { readdirSync } from 'node:fs'

const wanted = process.argv[2] ?? ''
const directory = new URL('.', import.meta.url)

for (const file of readdirSync(directory).filter(
  name => name.endsWith('.bench.mjs') && name.includes(wanted),
)) {
  const { run } = await import(new URL(file, directory).href)
  await run()
}
