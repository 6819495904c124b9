import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

/** Builds a program beside this file as one that node can run. Returns its file, and what removes it. */
export async function bundle(name: string): Promise<{ file: string; remove(): void }> {
  const cache = fileURLToPath(new URL('../.cache/', import.meta.url))
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(join(cache, `${name}-`))
  await build({
    config: false,
    silent: true,
    entry: { [name]: fileURLToPath(new URL(`${name}.ts`, import.meta.url)) },
    outDir: directory,
    format: 'esm',
    target: 'node20',
    // The SDK and zod are those of the package; our own packages are taken from their sources.
    noExternal: [/^@handraise\//u],
    outExtension: () => ({ js: '.mjs' }),
    esbuildOptions: options => {
      options.conditions = ['@handraise/source', 'module', 'node', 'import', 'default']
    },
  })
  return {
    file: join(directory, `${name}.mjs`),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
