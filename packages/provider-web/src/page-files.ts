import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { HttpError } from './http-error.ts'
import { route, type Handler } from './router.ts'

// Beside the built package, and beside the source it is built from; a bundle of this package keeps a copy there.
const BUILT = new URL('../dist/page/', import.meta.url)

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Nothing but the page's own files runs or is loaded, nothing that a model wrote can become markup by mistake
 * (`srcdoc` of a preview's sandboxed frame goes through the one policy), and no other site may frame it.
 */
const PAGE_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types handraise-preview',
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
}

const compress = promisify(gzip)

interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>
  readonly compressed: Uint8Array<ArrayBuffer>
  readonly headers: Readonly<Record<string, string>>
}

/** Serves the page and what it is made of, by their names alone: no path of a client is ever looked up on disk. */
export function pageRoutes(app: Hono, basePath: string): void {
  let reading: Promise<ReadonlyMap<string, PageFile>> | undefined
  const file =
    (name: (path: string) => string): Handler =>
    async c => {
      reading ??= readPage().catch((error: unknown) => {
        reading = undefined
        throw error
      })
      const files = await reading
      const found = files.get(name(c.req.path.slice(basePath.length + 1)))
      if (found === undefined)
        throw new HttpError('NOT_FOUND', 'there is no such file; the page itself is at the root')
      const encoding = accepts(c, {
        header: 'Accept-Encoding',
        supports: ['gzip', 'identity'],
        default: 'identity',
      })
      const body = encoding === 'gzip' ? found.compressed : found.body
      const headers = {
        ...found.headers,
        'Content-Length': String(body.byteLength),
        ...(encoding === 'gzip' ? { 'Content-Encoding': 'gzip' } : {}),
      }
      return new Response(c.req.raw.method === 'HEAD' ? null : body, { headers })
    }
  const page = file(() => 'index.html')
  route(app, `${basePath}/`, { GET: page, HEAD: page })
  const part = file(name => name)
  route(app, `${basePath}/page/:name`, { GET: part, HEAD: part })
  if (basePath === '') return
  // Its files are found relative to an address that ends in a slash. Browsers keep the fragment.
  const slash: Handler = c => c.body(null, 308, { Location: `${new URL(c.req.url).pathname}/` })
  route(app, basePath, { GET: slash, HEAD: slash })
}

async function readPage(): Promise<ReadonlyMap<string, PageFile>> {
  const names = await readdir(BUILT, { recursive: true, withFileTypes: true })
  const files = await Promise.all(
    names
      .filter(entry => entry.isFile())
      .map(async ({ parentPath, name }) => {
        const path = join(parentPath, name)
        const within = relative(fileURLToPath(BUILT), path).replaceAll(sep, '/')
        return [within, await toFile(within, await readFile(path))] as const
      }),
  )
  return new Map(files)
}

async function toFile(name: string, body: Uint8Array<ArrayBuffer>): Promise<PageFile> {
  const headers = {
    'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
    Vary: 'Accept-Encoding',
    // Built files are named after what they hold.
    'Cache-Control': name === 'index.html' ? 'no-store' : 'public, max-age=31536000, immutable',
    ...PAGE_HEADERS,
  }
  return { body, compressed: await compress(body), headers }
}
