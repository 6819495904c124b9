import type { Reporter, TestModule } from 'vitest/node'

/** Closes a run with `N passed, N failed`, for whoever reads only the last line. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap(module => [...module.children.allTests()])
    const inState = (state: string): number => tests.filter(test => test.result().state === state).length
    const brokenModules = modules.filter(
      module => module.state() === 'failed' && module.errors().length > 0,
    ).length
    const failed = inState('failed') + brokenModules + unhandledErrors.length
    process.once('exit', () =>
      console.log(`${inState('passed')} passed, ${failed} failed, ${inState('skipped')} skipped`),
    )
  }
}
