import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { PublicSettlement } from '@handraise/provider-web/client'
import { useWording } from '../language.ts'
import { Foreign } from './text.tsx'

/** What the person had written for a request that was settled without it. */
export function Written({
  text,
  settlement,
}: {
  text: string
  settlement?: PublicSettlement | undefined
}): VNode | null {
  const t = useWording()
  const [copied, setCopied] = useState(false)
  // It may have been sent from another page that kept the same draft.
  const said = JSON.stringify(settlement?.answer ?? settlement?.text ?? '')
  if (text === '' || said.includes(JSON.stringify(text))) return null
  return (
    <div class="written">
      <p>{t.youWrote}</p>
      <blockquote>
        <Foreign text={text} lines />
      </blockquote>
      <button
        type="button"
        onClick={() => {
          navigator.clipboard.writeText(text).then(
            () => setCopied(true),
            () => setCopied(false),
          )
        }}
      >
        {copied ? t.copied : t.copy}
      </button>
    </div>
  )
}
