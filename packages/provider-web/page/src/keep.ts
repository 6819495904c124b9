import { isRequestDraft, type RequestDraft } from './draft.ts'

// Another server mounted elsewhere on the same origin keeps its own.
const SCOPE = `handraise:${location.pathname}:`
/** Drafts of requests that were settled while no page was open are forgotten after a month. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000

/** The token, for as long as this tab lives: it is in the address only until the page has read it. */
export const keptToken = {
  read: (): string => attempt(() => sessionStorage.getItem(`${SCOPE}token`)) ?? '',
  /** False when the browser keeps nothing. */
  write: (token: string): boolean =>
    attempt(() => {
      sessionStorage.setItem(`${SCOPE}token`, token)
      return true
    }) === true,
}

/** A choice of the person for this page, such as its language. */
export const keptSetting = {
  read: (name: string): string | null => attempt(() => localStorage.getItem(`${SCOPE}${name}`)) ?? null,
  write: (name: string, value: string): void => attempt(() => localStorage.setItem(`${SCOPE}${name}`, value)),
}

/** What was typed and chosen and not sent yet, by request. It outlives reloads, the tab, and the server. */
export const keptDrafts = {
  readAll(): Map<string, RequestDraft> {
    const drafts = new Map<string, RequestDraft>()
    attempt(() => {
      for (const key of Object.keys(localStorage)) {
        if (!key.startsWith(`${SCOPE}draft:`)) continue
        const draft = readDraft(localStorage.getItem(key))
        if (draft === undefined) localStorage.removeItem(key)
        else drafts.set(key.slice(`${SCOPE}draft:`.length), draft)
      }
    })
    return drafts
  },
  write: (id: string, draft: RequestDraft): void =>
    attempt(() =>
      localStorage.setItem(`${SCOPE}draft:${id}`, JSON.stringify({ version: 1, at: Date.now(), draft })),
    ),
  /** Hears of drafts that other pages of this browser keep, until the returned function is called. */
  follow(heard: (id: string, draft: RequestDraft | undefined) => void): () => void {
    const listen = ({ key, newValue }: StorageEvent): void => {
      if (key?.startsWith(`${SCOPE}draft:`) === true)
        heard(key.slice(`${SCOPE}draft:`.length), readDraft(newValue))
    }
    addEventListener('storage', listen)
    return () => removeEventListener('storage', listen)
  },
  remove: (id: string): void => attempt(() => localStorage.removeItem(`${SCOPE}draft:${id}`)),
}

// What was kept was written by a page like this one, perhaps an older one, or by anything else of this origin.
function readDraft(text: string | null): RequestDraft | undefined {
  const kept = attempt(
    () => JSON.parse(text ?? '') as Partial<{ version: number; at: number; draft: unknown }>,
  )
  if (kept?.version !== 1 || Date.now() - Number(kept.at) > KEPT_MS) return undefined
  return isRequestDraft(kept.draft) ? kept.draft : undefined
}

// A browser may keep nothing for this page, or be full: then what is typed lives as long as the page.
function attempt<T>(use: () => T): T | undefined {
  try {
    return use()
  } catch {
    return undefined
  }
}
