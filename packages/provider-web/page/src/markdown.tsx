import { h, type ComponentChildren, type VNode } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import * as smd from 'streaming-markdown'
import { visibleText } from '@handraise/user-questions/types'

/** How deep elements go within each other; what goes deeper is shown where it is. */
const DEEPEST = 24
/** Text longer than this is shown as it stands, in characters: nobody reads it, and it would hold up the page. */
const LONGEST = 50_000

interface Node {
  readonly type: smd.Token
  readonly children: Array<Node | string>
  readonly attributes: Map<smd.Attr, string>
}

const TAGS: Readonly<Partial<Record<smd.Token, string>>> = {
  [smd.Token.Paragraph]: 'p',
  // The page has headings of its own above these.
  [smd.Token.Heading_1]: 'h3',
  [smd.Token.Heading_2]: 'h4',
  [smd.Token.Heading_3]: 'h5',
  [smd.Token.Heading_4]: 'h6',
  [smd.Token.Heading_5]: 'h6',
  [smd.Token.Heading_6]: 'h6',
  [smd.Token.Code_Inline]: 'code',
  [smd.Token.Italic_Ast]: 'em',
  [smd.Token.Italic_Und]: 'em',
  [smd.Token.Strong_Ast]: 'strong',
  [smd.Token.Strong_Und]: 'strong',
  [smd.Token.Strike]: 's',
  [smd.Token.Blockquote]: 'blockquote',
  [smd.Token.List_Unordered]: 'ul',
  [smd.Token.List_Ordered]: 'ol',
  [smd.Token.List_Item]: 'li',
  [smd.Token.Table_Row]: 'tr',
  [smd.Token.Table_Cell]: 'td',
}

/**
 * Markdown as elements of the page. It never becomes markup: every text is set as text, HTML in it is shown as it stands,
 * an image is a link to it, and a link leads nowhere but to `http`, `https` and `mailto`, and says where.
 */
export function Markdown({ text }: { text: string }): VNode {
  const shown = visibleText(text)
  const [fault] = useErrorBoundary()
  if (shown.length > LONGEST || fault !== undefined) return <pre dir="auto">{shown}</pre>
  return (
    <div class="markdown" dir="auto">
      <Painted text={shown} />
    </div>
  )
}

/** The elements alone, which are never too deep to be shown. */
export function Painted({ text }: { text: string }): VNode {
  // The parser keeps to itself where a link leads that is not finished.
  const at = text.lastIndexOf('](')
  const to = at > text.indexOf('[') ? text.slice(at + 2) : ''
  const root = parse(text)
  return <>{(to.includes(')') || holds(root, to) ? root : parse(`${text})`)).children.map(paint)}</>
}

function holds({ children, attributes }: Node, text: string): boolean {
  return [...children, ...attributes.values()].some(part =>
    typeof part === 'string' ? part.includes(text) : holds(part, text),
  )
}

function parse(text: string): Node {
  const root: Node = { type: smd.Token.Document, children: [], attributes: new Map() }
  const path = [root]
  const top = (): Node => path.at(-1) ?? root
  const parser = smd.parser({
    data: undefined,
    add_token(_, type) {
      if (path.length > DEEPEST) {
        path.push(top())
        return
      }
      const node: Node = { type, children: [], attributes: new Map() }
      top().children.push(node)
      path.push(node)
    },
    end_token: () => void path.pop(),
    add_text: (_, part) => void top().children.push(part),
    set_attr: (_, attribute, value) => void top().attributes.set(attribute, value),
  })
  smd.parser_write(parser, text)
  smd.parser_end(parser)
  return root
}

function paint(node: Node | string): ComponentChildren {
  if (typeof node === 'string') return node
  const { type, attributes } = node
  const children = node.children.map(paint)
  switch (type) {
    case smd.Token.Line_Break:
      return <br />
    case smd.Token.Rule:
      return <hr />
    case smd.Token.Code_Block:
    case smd.Token.Code_Fence:
      return (
        <pre tabIndex={0}>
          <code>{children}</code>
        </pre>
      )
    case smd.Token.Checkbox:
      return attributes.has(smd.Attr.Checked) ? '☑ ' : '☐ '
    case smd.Token.Table:
      return (
        <div class="scroll" tabIndex={0} role="group">
          <table>{children}</table>
        </div>
      )
    case smd.Token.Link:
    case smd.Token.Raw_URL:
      return <Link to={attributes.get(smd.Attr.Href)}>{children}</Link>
    case smd.Token.Image:
      return <Link to={attributes.get(smd.Attr.Src)}>{children}</Link>
    case smd.Token.List_Ordered:
      return <ol start={Number(attributes.get(smd.Attr.Start) ?? 1)}>{children}</ol>
    default: {
      const tag = TAGS[type]
      return tag === undefined ? children : h(tag, null, children)
    }
  }
}

function Link({ to = '', children }: { to?: string | undefined; children: ComponentChildren }): VNode {
  const url = URL.canParse(to) ? new URL(to) : undefined
  if (url === undefined || !/^(?:https?|mailto):$/u.test(url.protocol)) {
    return (
      <>
        {children} ({to})
      </>
    )
  }
  return (
    <>
      <a href={url.href} target="_blank" rel="noopener noreferrer" title={url.href}>
        {children}
      </a>
      {/* What a link is called and where it leads are two things. */}
      <small class="host"> ({url.host || url.pathname})</small>
    </>
  )
}
