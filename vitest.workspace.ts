import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const conditions = ['@handraise/source', 'module', 'node', 'import', 'default']

/** One run on cordis itself, and one on its scoped fork, which a host may bring instead. */
const project = (
  name: string,
  include: string[],
  { alias = {}, exclude = [] }: { alias?: Record<string, string>; exclude?: string[] } = {},
) => ({
  resolve: { conditions, alias },
  ssr: { resolve: { conditions } },
  test: {
    name,
    include,
    exclude: ['**/node_modules/**', ...exclude],
    env: { NO_COLOR: '1' },
    testTimeout: 30_000,
  },
})

export default defineConfig({
  test: {
    reporters: ['default', './tests/closing-line.ts'],
    projects: [
      project('packages', ['packages/*/tests/**/*.test.ts', 'tests/**/*.test.ts']),
      project('on the scoped fork of cordis', ['packages/*/tests/*.test.ts'], {
        alias: { cordis: fileURLToPath(import.meta.resolve('@deepseek-ai/cordis')) },
        // The built command brings the cordis it was built with.
        exclude: [
          'packages/handraise/tests/{approvals,ask,ask-web,demo,inbox,notify,terminal,wire,wire-serve}.test.ts',
        ],
      }),
    ],
  },
})
