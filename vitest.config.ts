// vitest looks for this file name; the projects themselves are in vitest.workspace.ts.
export { default } from './vitest.workspace.ts'
