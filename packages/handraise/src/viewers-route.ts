import type { PageAddress } from '@handraise/provider-web'
import { z } from 'zod'

const PATH = '/viewers'

/** How long a server may take to show that it runs, in milliseconds. */
const PATIENCE_MS = 1_000

const viewersSchema = z.object({ viewers: z.int().min(0) })

/** Lets other processes on the same inbox ask how many look at the page of this one. */
export function viewersRoute(
  server: () => { viewers(): number } | undefined,
): Readonly<Record<string, () => Response>> {
  return { [PATH]: () => Response.json({ viewers: server()?.viewers() ?? 0 }) }
}

/** How many look at the page of a server, none where it does not say; nothing when it does not run. */
export async function viewersOf({ url, token }: PageAddress): Promise<number | undefined> {
  const ask = (path: string): Promise<Response> =>
    fetch(new URL(path, url), {
      headers: { Authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
  try {
    const told = await ask(PATH.slice(1))
    if (told.ok) return viewersSchema.parse(await told.json()).viewers
    // An inbox that a host of another make serves.
    return (await ask('api/requests?limit=1')).ok ? 0 : undefined
  } catch {
    return undefined
  }
}
