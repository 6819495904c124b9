// Writes openapi.json from the schemas. Needs a build; `npm run openapi` makes one first.
import { writeFileSync } from 'node:fs'
import { openApiDocument } from '../dist/index.js'

writeFileSync(new URL('../openapi.json', import.meta.url), `${JSON.stringify(openApiDocument(), null, 2)}\n`)
