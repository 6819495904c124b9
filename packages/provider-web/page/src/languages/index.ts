import type { Wording } from './en.ts'

// One file for each language: what stands in this folder is offered, and only the one in use is loaded.
const files = import.meta.glob<Record<string, Wording>>('./??.ts')

/** The codes of the languages there are. */
export const LANGUAGES: readonly string[] = Object.keys(files).map(path => path.slice(2, -3))

/** The first of the wanted languages there is, by its main part: `zh-TW` is read as `zh`. English where there is none. */
export function chooseLanguage(wanted: readonly (string | null)[]): string {
  const codes = wanted.map(code => (code ?? '').toLowerCase().split('-')[0] ?? '')
  return codes.find(code => LANGUAGES.includes(code)) ?? 'en'
}

export async function loadLanguage(code: string): Promise<Wording> {
  const file = await files[`./${code}.ts`]?.()
  const wording = file?.[code]
  if (wording === undefined) throw new Error(`there is no language ${code}`)
  return wording
}

/** What a language calls itself. */
export function nameOfLanguage(code: string): string {
  return new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code
}
