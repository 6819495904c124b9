// The links of a written site that lead nowhere: to a file that is not there, or to a place that a page does not have.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const LINK = /<(?:a|img|link|script)\b[^>]*?\s(?:href|src)="([^"]+)"/gu
const PLACE = /\sid="([^"]+)"/gu
const ELSEWHERE = /^[a-z]+:/u

/** Each as `page: link`. */
export function deadLinks(directory) {
  const pages = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.html'))
    .map(name => join(directory, name))
  const text = new Map(pages.map(page => [page, readFileSync(page, 'utf8')]))
  const places = new Map()
  const placesOf = page => {
    if (!places.has(page)) places.set(page, new Set([...text.get(page).matchAll(PLACE)].map(([, id]) => id)))
    return places.get(page)
  }
  const leadsSomewhere = (page, link) => {
    const [path, place] = link.replaceAll('&amp;', '&').split('#')
    const target = path === '' ? page : join(dirname(page), decodeURIComponent(path))
    if (!existsSync(target)) return false
    return (
      place === undefined ||
      place === '' ||
      !text.has(target) ||
      placesOf(target).has(decodeURIComponent(place))
    )
  }
  return pages.flatMap(page =>
    [...new Set([...text.get(page).matchAll(LINK)].map(([, link]) => link))]
      .filter(link => !ELSEWHERE.test(link) && !leadsSomewhere(page, link))
      .map(link => `${relative(directory, page)}: ${link}`),
  )
}
