import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Not `import`: vitest hands them on to Node, which would then require the modules that are there to be imported.
const conditions = ['@handraise/source', 'node']

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
    globalSetup: ['packages/inbox-postgres/tests/server/global-setup.ts'],
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
        exclude: [
          // The built command, and processes of their own, bring the cordis they were built with.
          'packages/handraise/tests/{approvals,ask,ask-web,demo,inbox,log,mcp,notify,terminal,wire,wire-serve}.test.ts',
          'packages/wire/tests/crash.test.ts',
          'packages/mcp/tests/{pause-clients,pause-restart,provider-http,provider-stdio}.test.ts',
          'packages/thread/tests/kill.test.ts',
          // Nothing of cordis is in what these are about.
          'packages/elicitation/tests/*.test.ts',
          'packages/inbox/tests/store-suite.test.ts',
          'packages/inbox-postgres/tests/*.test.ts',
          'packages/inbox-sqlite/tests/{suite,processes}.test.ts',
          'packages/provider-terminal/tests/{render,pty}.test.ts',
          'packages/user-questions/tests/provider-suite.test.ts',
          'packages/mcp/tests/{endpoint,offer-readme,pause,pause-answers,pause-hangs,redeem,seal,seed-003}.test.ts',
          'packages/thread/tests/{file-thread,fuzz,store-suite,structured-answers}.test.ts',
          'packages/wire/tests/{client,ndjson,protocol,transcripts,web-socket}*.test.ts',
          'packages/wire/tests/fuzz*.test.ts',
        ],
      }),
    ],
  },
})
