import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/**
 * Builds the page: one script, one more for each language, one style sheet and one icon, each named after what it holds and
 * found relative to the page.
 */
export default defineConfig({
  root: 'page',
  base: './',
  publicDir: false,
  resolve: {
    conditions: ['@handraise/source', 'module', 'browser', 'import', 'default'],
    // What it knows of Node is of no use here.
    alias: [
      {
        find: /^\.\/not-sent\.ts$/u,
        replacement: fileURLToPath(new URL('page/src/not-sent.ts', import.meta.url)),
      },
    ],
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/page',
    emptyOutDir: true,
    assetsDir: 'page',
    assetsInlineLimit: 0,
    modulePreload: false,
    target: 'es2022',
    reportCompressedSize: false,
    minify: 'terser',
    // What a dependency checks of itself is of no use on a person's screen.
    terserOptions: {
      module: true,
      compress: { passes: 3, ecma: 2020, drop_console: true, pure_getters: true, unsafe_arrows: true },
    },
  },
})
