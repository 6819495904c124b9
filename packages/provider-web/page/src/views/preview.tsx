import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { visibleLine, visibleText, type QuestionPreview } from '@handraise/user-questions/types'
import { useWording } from '../language.ts'

// The one way by which a model's text gets to be parsed as HTML: into a frame that runs nothing, loads nothing, and is
// of no origin.
const policy = (
  globalThis as {
    trustedTypes?: { createPolicy(name: string, rules: object): { createHTML(text: string): string } }
  }
).trustedTypes?.createPolicy('handraise-preview', { createHTML: (html: string) => html })

/** A longer look at an option, in a sandboxed frame whatever its format: `html` as HTML, all else as text. */
export function Preview({ preview, label }: { preview: QuestionPreview; label: string }): VNode {
  const t = useWording()
  const [isOpen, setOpen] = useState(false)
  const html = useMemo(() => toHtml(preview), [preview.content, preview.format])
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{t.preview}</summary>
      {isOpen && <iframe class="preview" sandbox="" title={t.previewOf(visibleLine(label))} srcdoc={html} />}
    </details>
  )
}

function toHtml({ format, content }: QuestionPreview): string {
  const html =
    format.toLowerCase() === 'html'
      ? content
      : `<pre>${visibleText(content).replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre>`
  return policy?.createHTML(html) ?? html
}
