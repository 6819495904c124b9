import type { Options } from 'tsup'

/** How every library package is built: ESM with types, for Node 20, dependencies left outside. */
export function library(entry: Record<string, string>): Options {
  return {
    entry,
    format: 'esm',
    target: 'node20',
    platform: 'neutral',
    clean: true,
    sourcemap: true,
    splitting: true,
    // tsup passes `baseUrl` to the compiler, which TypeScript 6 reports as deprecated.
    dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
  }
}
