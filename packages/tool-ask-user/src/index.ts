export { ADVISED, ALLOWED, parseAskUserArguments, type AskUserArguments } from './arguments.ts'
export { apply, inject, name } from './plugin.ts'
export { repairArguments } from './repair-arguments.ts'
export { askUserTool, type Asker, type RefusedChild } from './tool.ts'
