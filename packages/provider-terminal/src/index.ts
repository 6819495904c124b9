export { judgeTerminal, type TerminalToJudge, type TerminalVerdict } from './judge.ts'
export { apply, inject, name } from './plugin.ts'
export { terminalProvider, type TerminalOptions, type TerminalProvider } from './provider.ts'
export type { TerminalInput, TerminalOutput } from './terminal.ts'
