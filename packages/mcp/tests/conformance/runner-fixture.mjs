// The published conformance runner, on a Node that has no `fs.globSync` yet: `node runner-fixture.mjs server --url …`.
import { register } from 'node:module'

register('./runner-hooks-fixture.mjs', import.meta.url)
await import('@modelcontextprotocol/conformance/dist/index.js')
