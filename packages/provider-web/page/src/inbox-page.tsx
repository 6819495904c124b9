import type { VNode } from 'preact'
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import { InboxClient, type PublicRequest } from '@handraise/provider-web/client'
import { serverUrl } from './address.ts'
import { followInbox, followRequest, type Connection } from './follow-inbox.ts'
import { emptyInbox, reduceInbox, type InboxChange, type InboxState } from './inbox-state.ts'
import { textOf } from './draft.ts'
import { keptSetting } from './keep.ts'
import { useWording } from './language.ts'
import { visibleLine } from '@handraise/user-questions/types'
import { BrowserNotices } from './notices.ts'
import { useDrafts } from './use-drafts.ts'
import { History } from './views/history.tsx'
import { PageHeader } from './views/page-header.tsx'
import { RequestCard } from './views/request-card.tsx'
import { endingOf } from './views/settled.tsx'
import { Foreign } from './views/text.tsx'
import { WaitingList } from './views/waiting-list.tsx'

/** Requests loaded at once, and how many settled ones. */
const PAGE = 100
const HISTORY_PAGE = 50
/** How long keys and clicks do not count on a request that came up by itself, and on one the person opened, in milliseconds. */
const ARMING_MS = 500
const OPENED_ARMING_MS = 150

/** The request in view. */
interface Shown {
  readonly request: PublicRequest
  readonly byPerson: boolean
  readonly visit: number
}

export interface InboxPageProps {
  readonly token: string
  readonly only?: string | undefined
  readonly language: string
  readonly setLanguage: (code: string) => void
  /** The server does not know the token. */
  readonly refused: () => void
}

/** All that waits, the request in view, and what was settled. */
export function InboxPage({ token, only, language, setLanguage, refused }: InboxPageProps): VNode {
  const t = useWording()
  const client = useMemo(() => new InboxClient({ url: serverUrl(), token }), [token])
  const [inbox, tell] = useReducer(reduceAll, emptyInbox)
  const [connection, setConnection] = useState<Connection>('connecting')
  const [view, setView] = useState<'waiting' | 'history'>('waiting')
  const [shown, setShown] = useState<Shown>()
  const [browsing, setBrowsing] = useState(false)
  const [said, say] = useState('')
  const [gone, setGone] = useState<string>()
  const [last, setLast] = useState<PublicRequest>()
  const [withText, setWithText] = useState(keptSetting.read('notice') === 'text')
  const notices = useMemo(() => new BrowserNotices(), [])
  const latest = useRef<InboxState>(inbox)
  latest.current = inbox
  const { pending, next, ended } = inbox

  const show = useCallback((request: PublicRequest | undefined, byPerson: boolean): void => {
    setBrowsing(request === undefined)
    if (byPerson) setLast(undefined)
    setShown(before =>
      request === undefined ? undefined : { request, byPerson, visit: (before?.visit ?? 0) + 1 },
    )
    setView('waiting')
  }, [])

  const drafts = useDrafts(client, {
    live: connection === 'live',
    refused,
    settled(request) {
      tell([{ type: 'changed', request }])
      say(`${t.sent}: ${visibleLine(request.questions?.[0]?.question ?? request.kind)}`)
      // Whoever sent it goes on to the next.
      if (only === undefined) {
        setLast(request)
        setShown(undefined)
      }
    },
    late: (id, settlement) => tell([{ type: 'ended', id, settlement }]),
    gone: setGone,
  })

  useEffect(() => {
    const stop = new AbortController()
    const heard: InboxChange[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    let since = Infinity
    // Many changes at once are one change of the page.
    const flush = (): void => {
      timer = undefined
      tell(heard.splice(0))
    }
    const options = {
      limit: () => Math.min(1_000, Math.max(PAGE, latest.current.pending?.length ?? 0)),
      signal: stop.signal,
      tell(change: InboxChange) {
        if (change.type === 'listed' && since === Infinity) since = Date.now() + change.aheadMs
        heard.push(change)
        if (heard.length >= 500) {
          clearTimeout(timer)
          flush()
        } else timer ??= setTimeout(flush, 16)
        // What was opened since the page was, whether it is heard of at once or after the connection was lost.
        for (const request of requestsIn(change)) if (request.openedAt >= since) tellOf.current(request)
      },
      connection(now: Connection) {
        setConnection(now)
        if (now === 'refused') refused()
      },
    }
    void (only === undefined
      ? followInbox(client, options)
      : followRequest(client, {
          ...options,
          only,
          found: request => setShown(before => before ?? { request, byPerson: false, visit: 0 }),
          missing: () => setGone(only),
        }))
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [client, only])
  const wasShown = useRef(false)
  wasShown.current ||= shown !== undefined
  const tellOf = useRef<(request: PublicRequest) => void>(() => {})
  tellOf.current = request => notices.tell(request, t.notice, withText, () => show(request, true))
  useEffect(() => {
    for (const id of ended.keys()) notices.take(id)
  }, [ended])

  useEffect(() => {
    const count = pending?.length ?? 0
    document.title = `${count === 0 ? '' : `(${count}${next === undefined ? '' : '+'}) `}Handraise`
  }, [pending, next])

  // The oldest comes up by itself when nothing else is in view.
  useEffect(() => {
    // What cannot be answered here waits for the person to look at it.
    const oldest = pending?.find(({ questions }) => questions !== undefined) ?? pending?.[0]
    if (shown === undefined && !browsing && view === 'waiting' && oldest !== undefined) show(oldest, false)
  }, [shown, browsing, view, pending])

  // What is in view is kept in view as it is by now, and as it was once it is settled.
  const current = shown && (pending?.find(({ id }) => id === shown.request.id) ?? shown.request)
  const settlement = shown && (ended.get(shown.request.id) ?? current?.settlement)
  useEffect(() => {
    if (settlement === undefined || shown === undefined) return
    say(endingOf(t, settlement, drafts.isMine(settlement.commandId)))
  }, [settlement])

  // It was settled while nobody listened.
  useEffect(() => {
    if (connection !== 'live' || shown === undefined || settlement !== undefined) return
    if (pending?.some(({ id }) => id === shown.request.id) !== false) return
    client.get(shown.request.id).then(
      request => tell([{ type: 'changed', request }]),
      () => {},
    )
  }, [connection, pending])

  useEffect(() => {
    if (shown !== undefined && !shown.byPerson && settlement === undefined)
      say(visibleLine(shown.request.questions?.[0]?.question ?? ''))
  }, [shown])
  const wasOffline = useRef(false)
  useEffect(() => {
    if (connection === 'offline') say(t.offline)
    else if (connection === 'live' && wasOffline.current) say(t.backOnline)
    wasOffline.current = connection === 'offline'
  }, [connection])
  // Whoever goes to the list is brought to where they were in it.
  useEffect(() => {
    if (browsing) document.querySelector<HTMLElement>('.waiting button')?.focus()
  }, [browsing])

  useEffect(() => {
    if (view !== 'history' || connection !== 'live') return
    void loadHistory(client, tell, undefined)
  }, [view, connection, client])

  // A long list is loaded on, when what was loaded of it has been answered.
  const loadMore = useCallback(async (): Promise<void> => {
    const after = latest.current.next
    if (after === undefined) return
    const { lists } = latest.current
    const page = await client.list({ limit: PAGE, after }).catch(() => undefined)
    if (page !== undefined) tell([{ type: 'more', after, lists, ...page }])
  }, [client])
  useEffect(() => {
    if (next !== undefined && (pending?.length ?? 0) < PAGE / 2) void loadMore()
  }, [pending, next])

  const goOn = (): void => {
    if (shown !== undefined) drafts.remove(shown.request.id)
    setShown(undefined)
    setBrowsing(false)
  }
  const draft = shown && drafts.of(shown.request.id)

  return (
    <div
      class={`page in-${view} ${shown === undefined ? 'browsing' : 'showing'} ${only === undefined ? '' : 'only'}`}
    >
      {only === undefined && (
        <PageHeader
          count={pending?.length ?? 0}
          more={next !== undefined}
          view={view}
          setView={setView}
          connection={connection}
          language={language}
          setLanguage={setLanguage}
          withText={withText}
          setWithText={on => {
            keptSetting.write('notice', on ? 'text' : 'headers')
            setWithText(on)
          }}
        />
      )}
      {view === 'waiting' && only === undefined && pending !== undefined && pending.length > 0 && (
        <WaitingList
          requests={pending}
          shown={shown?.request.id}
          show={id =>
            show(
              pending.find(request => request.id === id),
              true,
            )
          }
          more={next === undefined ? undefined : () => void loadMore()}
        />
      )}
      <main>
        {only !== undefined && <h1 class="unseen">Handraise</h1>}
        {connection === 'offline' && <p class="offline">{t.offline}</p>}
        {view === 'waiting' && last?.settlement !== undefined && (
          <p class="last">
            <strong>{t.sent}</strong> <Foreign text={last.questions?.[0]?.question ?? last.kind} />
          </p>
        )}
        {view === 'history' && (
          <History
            requests={inbox.history}
            written={({ id, questions = [] }) => textOf(questions, drafts.of(id))}
            more={
              inbox.historyNext === undefined
                ? undefined
                : () => void loadHistory(client, tell, inbox.historyNext).then(keepFocusInHistory)
            }
          />
        )}
        {view === 'waiting' && current !== undefined && draft !== undefined && (
          <>
            {only === undefined && (
              <button type="button" class="all" onClick={() => show(undefined, true)}>
                {t.all} ({pending?.length ?? 0}
                {next === undefined ? '' : '+'})
              </button>
            )}
            <RequestCard
              key={current.id}
              request={current}
              settlement={settlement}
              draft={draft}
              change={changed => {
                setLast(undefined)
                drafts.change(current, changed)
              }}
              decide={(how, changed) => drafts.decide(current, how, changed)}
              unsent={drafts.unsent(current.id)}
              sendAgain={() => drafts.sendAgain(current.id)}
              callOff={() => drafts.callOff(current.id)}
              issues={drafts.issues(current.id)}
              gone={gone === current.id}
              isMine={settlement !== undefined && drafts.isMine(settlement.commandId)}
              aheadMs={inbox.aheadMs}
              armingMs={shown?.byPerson === true ? OPENED_ARMING_MS : ARMING_MS}
              visit={shown?.visit ?? 0}
              alone={only !== undefined}
              next={
                only === undefined && (settlement !== undefined || gone === current.id)
                  ? { label: pending?.length === 0 ? t.close : t.nextWaiting, go: goOn }
                  : undefined
              }
            />
          </>
        )}
        {view === 'waiting' && shown === undefined && (
          <div class="nothing">
            {only !== undefined && gone === only ? (
              <h2>{t.gone}</h2>
            ) : pending === undefined ? (
              <p class="quiet">{t.loading}</p>
            ) : (
              pending.length === 0 && <Nothing focus={wasShown.current} />
            )}
          </div>
        )}
      </main>
      <p class="unseen" role="status">
        {said}
      </p>
    </div>
  )
}

/** Nothing waits. Whoever has just sent the last answer is brought here. */
function Nothing({ focus }: { focus: boolean }): VNode {
  const t = useWording()
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (focus) title.current?.focus()
  }, [])
  return (
    <>
      <h2 ref={title} tabIndex={-1}>
        {t.nothing}
      </h2>
      <p class="quiet">{t.nothingMore}</p>
    </>
  )
}

function requestsIn(change: InboxChange): readonly PublicRequest[] {
  if (change.type === 'listed') return change.requests
  return change.type === 'changed' && change.request.settlement === undefined ? [change.request] : []
}

function reduceAll(state: InboxState, changes: readonly InboxChange[]): InboxState {
  return changes.reduce(reduceInbox, state)
}

// The button that loaded the last of it is gone.
function keepFocusInHistory(): void {
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById('history-title')?.focus()
  })
}

async function loadHistory(
  client: InboxClient,
  tell: (changes: readonly InboxChange[]) => void,
  after: string | undefined,
): Promise<void> {
  const page = await client.list({ state: 'settled', limit: HISTORY_PAGE, after }).catch(() => undefined)
  if (page !== undefined) tell([{ type: 'history', ...page, first: after === undefined }])
}
