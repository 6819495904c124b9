import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Wording } from './languages/en.ts'

export interface Language {
  readonly code: string
  readonly wording: Wording
}

// The page is shown once its language is there.
export const LanguageContext = createContext<Language>({ code: 'en', wording: {} as Wording })

export function useLanguage(): Language {
  return useContext(LanguageContext)
}

export function useWording(): Wording {
  return useContext(LanguageContext).wording
}

/** `90` seconds are `1:30`. */
export function clockTime(ms: number): string {
  const total = Math.max(0, Math.ceil(ms / 1000))
  const two = (value: number): string => String(value).padStart(2, '0')
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`
}

/** An instant as people of the language write it: the time alone when it is today's. */
export function momentOf(instant: number, code: string): string {
  const date = new Date(instant)
  const isToday = date.toDateString() === new Date().toDateString()
  return new Intl.DateTimeFormat(code, {
    ...(isToday ? {} : { dateStyle: 'medium' as const }),
    timeStyle: 'short',
  }).format(date)
}
