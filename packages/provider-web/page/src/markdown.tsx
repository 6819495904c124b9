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
  const root = parse(text)
  return holds(root, text) ? <>{root.children.map(paint)}</> : <pre>{text}</pre>
}

/** Whether every letter and digit is still there, in order: no fault of a parser may hide a part of what is decided. */
function holds(root: Node, text: string): boolean {
  const shown = characters(written(root))
  let at = 0
  return characters(text.replace(DRAWN, '')).every(character => {
    at = shown.indexOf(character, at) + 1
    return at > 0
  })
}

/** What becomes a thing that is drawn and has no letters: a break, a ticked box, the number of a list item. */
const DRAWN = /<br\s*\/?>|\[x\]|^(?:[\s>*+-]|\d+[.)]\s)+/gimu

const characters = (text: string): readonly string[] => text.match(/[\p{L}\p{N}]/gu) ?? []

function written({ type, children, attributes }: Node): string {
  const parts = children.map(part => (typeof part === 'string' ? part : written(part)))
  const told = [...attributes.values()]
  return (type === smd.Token.Code_Fence ? [...told, ...parts] : [...parts, ...told]).join('')
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
  // What the parser still waits to see the end of, as where an unfinished link leads, it never hands on.
  const held = parser.pending.trimEnd()
  if (held !== '') top().children.push(held)
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
          {attributes.has(smd.Attr.Lang) && (
            <small>
              {attributes.get(smd.Attr.Lang)}
              {'\n'}
            </small>
          )}
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
      return (
        <Link to={attributes.get(smd.Attr.Src)} open="![">
          {children}
        </Link>
      )
    case smd.Token.List_Ordered:
      return <ol start={Number(attributes.get(smd.Attr.Start) ?? 1)}>{children}</ol>
    default: {
      const tag = TAGS[type]
      return tag === undefined ? children : h(tag, null, children)
    }
  }
}

interface LinkProps {
  /** Where it leads; `undefined` where the text ends before it says so. */
  readonly to: string | undefined
  /** What opens it, which is shown where it is no link. */
  readonly open?: string
  readonly children: ComponentChildren
}

function Link({ to, open = '[', children }: LinkProps): VNode {
  if (to === undefined) {
    return (
      <>
        {open}
        {children}
      </>
    )
  }
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
