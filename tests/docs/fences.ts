import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { marked, type Tokens } from 'marked'

/** A fenced block of a page, with what follows it. */
export interface Fence {
  readonly page: string
  /** Counted from 1, within the page. */
  readonly number: number
  readonly language: string
  readonly code: string
  /** What the block prints, where the next one shows it. */
  readonly output?: string | undefined
  /** The name in a comment `<!-- picture: name -->` right before the block: a test draws it. */
  readonly picture?: string | undefined
}

const OUTPUT = new Set(['text', 'json'])

/** Every fenced block of the README, the pages of docs/, and the READMEs of the packages. */
export function readFences(root: string): Fence[] {
  // That each package has one is for scripts/check-packages.mjs to say.
  const packages = readdirSync(`${root}/packages`)
    .map(name => `packages/${name}/README.md`)
    .filter(page => existsSync(`${root}/${page}`))
  const docs = readdirSync(`${root}/docs`)
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`)
  return ['README.md', ...docs, ...packages].flatMap(page =>
    fencesOf(page, readFileSync(`${root}/${page}`, 'utf8')),
  )
}

function fencesOf(page: string, markdown: string): Fence[] {
  const tokens = marked.lexer(markdown).filter(({ type }) => type !== 'space')
  const codeAt = (index: number): Tokens.Code | undefined => {
    const token = tokens[index]
    return token?.type === 'code' ? (token as Tokens.Code) : undefined
  }
  return tokens.flatMap((token, index) => {
    const code = codeAt(index)
    if (code === undefined) return []
    const next = codeAt(index + 1)
    const [, picture] = /<!-- picture: (\S+) -->/u.exec(tokens[index - 1]?.raw ?? '') ?? []
    const number = tokens.slice(0, index + 1).filter(({ type }) => type === 'code').length
    return [
      {
        page,
        number,
        language: code.lang ?? '',
        code: code.text,
        ...(next !== undefined && OUTPUT.has(next.lang ?? '') ? { output: next.text } : {}),
        ...(picture === undefined ? {} : { picture }),
      },
    ]
  })
}
