export type CanonicalHost = { readonly host: string } | { readonly fault: string }

const NAME = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/u

/**
 * A host as every client that follows the URL standard connects to it: lower case, international names in their ASCII
 * form, IPv4 addresses of any notation as four decimal numbers, IPv6 addresses shortest and in brackets, no dot at the
 * end. What could carry more than a host (`@ / ? # \ %`, a port, blanks) or stand for several (`*`) has none.
 */
export function canonicalHost(given: string): CanonicalHost {
  const forbidden = /[@/?#\\%*|<>^\p{C}\p{Z}]/u.exec(given)
  if (forbidden !== null) return { fault: `holds ${JSON.stringify(forbidden[0])}, which no host does` }
  if (given.includes(':') || given.startsWith('[')) return ofAddress(given)
  const parsed = parse(given)
  if (parsed === undefined) return { fault: 'is not the name or the address of a host' }
  const host = parsed.replace(/\.$/u, '')
  if (host.length > 253 || !host.split('.').every(name => NAME.test(name)))
    return { fault: 'is not the name or the address of a host' }
  return { host }
}

function ofAddress(given: string): CanonicalHost {
  const host = parse(/^\[.*\]$/u.test(given) ? given : `[${given}]`)
  // A host with a port is not taken apart: which part is which is for the caller to say.
  return host === undefined ? { fault: 'is not a host alone; a port is named apart from it' } : { host }
}

function parse(host: string): string | undefined {
  const url = `http://${host}/`
  if (!URL.canParse(url)) return undefined
  const { hostname, username, password, port, pathname, search, hash } = new URL(url)
  return [username, password, port, search, hash].every(part => part === '') && pathname === '/'
    ? hostname
    : undefined
}
