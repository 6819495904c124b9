/** A server, or an app a host mounted, that shows the page. */
export interface PageAddress {
  /** Where the page is, such as `http://127.0.0.1:4100/`, with the base path it is mounted at. */
  readonly url: string
  readonly token: string
}

/**
 * The address that opens the page, with the token in its fragment, which browsers send to nobody. `request` shows that
 * one request alone, and the page is done when it is settled.
 */
export function pageUrl(
  { url, token }: PageAddress,
  { request }: { request?: string | undefined } = {},
): string {
  const fragment = new URLSearchParams({ token, ...(request === undefined ? {} : { request }) })
  return `${url.endsWith('/') ? url : `${url}/`}#${fragment.toString()}`
}
