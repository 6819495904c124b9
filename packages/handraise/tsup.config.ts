import { access, cp } from 'node:fs/promises'
import { defineConfig } from 'tsup'
import { library } from '../../tsup.base.ts'

const PAGE = '../provider-web/dist/page'

export default defineConfig([
  library({ index: 'src/index.ts' }),
  {
    // The command is one bundle, so that starting it reads a handful of files. What only some commands need is split off
    // and loaded when it is used.
    entry: { cli: 'src/cli.ts' },
    format: 'esm',
    target: 'node20',
    platform: 'node',
    splitting: true,
    minify: true,
    // The database client is native and optional: it is loaded from where it was built. So would be that of PostgreSQL, which
    // is not used.
    noExternal: [/^(?!(?:better-sqlite3|pg-native)$)/],
    external: ['better-sqlite3', 'pg-native'],
    banner: {
      // Bundled CommonJS dependencies still call `require`.
      js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    // The bundled server looks for its page beside itself, as it does in its own package.
    async onSuccess() {
      await access(`${PAGE}/index.html`).catch((cause: unknown) => {
        throw new Error(`${PAGE} holds no page; build @handraise/provider-web first`, { cause })
      })
      await cp(PAGE, 'dist/page', { recursive: true })
    },
  },
])
