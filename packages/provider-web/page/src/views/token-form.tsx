import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useWording } from '../language.ts'

/** Asks for the token, when the address did not hold the one of this server. */
export function TokenForm({ refused, enter }: { refused: number; enter: (token: string) => void }): VNode {
  const t = useWording()
  const [token, setToken] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  return (
    <main class="alone">
      <form
        class="card"
        onSubmit={event => {
          event.preventDefault()
          if (token.trim() !== '') enter(token.trim())
        }}
      >
        <h1>{t.tokenTitle}</h1>
        <p>{t.tokenWhy}</p>
        {refused > 0 && (
          <p role="alert" class="fault" key={refused}>
            {t.tokenRefused}
          </p>
        )}
        <label class="field">
          {t.token}
          <input
            ref={field}
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={token}
            onInput={event => setToken(event.currentTarget.value)}
          />
        </label>
        <p class="actions">
          <button type="submit" class="primary">
            {t.enter}
          </button>
        </p>
      </form>
    </main>
  )
}
