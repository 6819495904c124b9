/** Whether a process of this number runs on this machine. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It runs, as somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
