import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Connection } from '../follow-inbox.ts'
import { useWording } from '../language.ts'
import { LANGUAGES, nameOfLanguage } from '../languages/index.ts'
import { canNotify, mayAskToNotify } from '../notices.ts'

export interface PageHeaderProps {
  readonly count: number
  /** More is pending than is counted. */
  readonly more: boolean
  readonly view: 'waiting' | 'history'
  readonly setView: (view: 'waiting' | 'history') => void
  readonly connection: Connection
  readonly language: string
  readonly setLanguage: (code: string) => void
  readonly withText: boolean
  readonly setWithText: (on: boolean) => void
}

export function PageHeader(props: PageHeaderProps): VNode {
  const { count, more, view, setView, connection, language, setLanguage, withText, setWithText } = props
  const t = useWording()
  const [, repaint] = useState(0)
  const tab = (name: 'waiting' | 'history', label: string): VNode => (
    <button type="button" aria-current={view === name ? 'page' : undefined} onClick={() => setView(name)}>
      {label}
    </button>
  )
  return (
    <header class="top">
      <h1>Handraise</h1>
      <nav aria-label="Handraise">
        {tab('waiting', `${t.waiting} (${count}${more ? '+' : ''})`)}
        {tab('history', t.history)}
      </nav>
      <span class={`connection ${connection}`}>
        {connection === 'live' ? t.connected : connection === 'connecting' ? t.connecting : t.isOffline}
      </span>
      {mayAskToNotify() && (
        <button
          type="button"
          onClick={() => void Notification.requestPermission().then(() => repaint(Math.random()))}
        >
          {t.notifyMe}
        </button>
      )}
      {canNotify() && (
        <label>
          <input
            type="checkbox"
            checked={withText}
            onChange={event => setWithText(event.currentTarget.checked)}
          />
          {t.notifyText}
        </label>
      )}
      <select
        aria-label={t.language}
        value={language}
        onChange={event => setLanguage(event.currentTarget.value)}
      >
        {LANGUAGES.map(code => (
          <option key={code} value={code} lang={code}>
            {nameOfLanguage(code)}
          </option>
        ))}
      </select>
    </header>
  )
}
