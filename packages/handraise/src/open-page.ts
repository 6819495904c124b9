import open from 'open'
import { hasDisplay } from './display.ts'

/** Opens the address in the person's browser. What keeps it from that is told on standard error, and is no fault. */
export async function openPage(url: string): Promise<void> {
  if (!hasDisplay()) return tellFailure('there is no display')
  try {
    const opener = await open(url)
    opener.once('exit', code => {
      if (code !== null && code !== 0) tellFailure(`what opens pages here ended with ${code}`)
    })
  } catch (error) {
    tellFailure((error as Error).message)
  }
}

function tellFailure(why: string): void {
  process.stderr.write(`the page could not be opened: ${why}; open its address yourself\n`)
}
