import { EventEmitter } from 'node:events'
import { emitKeypressEvents } from 'node:readline'

const CTRL_LETTERS = ['a', 'c', 'd', 'e', 'k', 's', 't', 'u', 'w', 'x'] as const

export type KeyName =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'page-up'
  | 'page-down'
  | 'enter'
  | 'escape'
  | 'backspace'
  | 'delete'
  | 'tab'
  | 'shift-tab'
  | `ctrl-${(typeof CTRL_LETTERS)[number]}`
  | 'unbound'

/** What a person pressed: a character, or a key that is none. */
export type Key =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'named'; readonly name: KeyName }

/** What readline tells of a key. */
export interface Keypress {
  readonly name?: string | undefined
  readonly sequence?: string | undefined
  readonly ctrl?: boolean | undefined
  readonly meta?: boolean | undefined
  readonly shift?: boolean | undefined
}

const NAMED: Readonly<Record<string, KeyName>> = {
  up: 'up',
  down: 'down',
  left: 'left',
  right: 'right',
  home: 'home',
  end: 'end',
  pageup: 'page-up',
  pagedown: 'page-down',
  return: 'enter',
  // A line feed. It is what some terminals, and most scripts, send for Enter.
  enter: 'enter',
  escape: 'escape',
  backspace: 'backspace',
  delete: 'delete',
}

/** The keys in one keypress of readline: one, or two for Esc pressed twice, which arrives as one. */
export function toKeys(text: string | undefined, press: Keypress): Key[] {
  if (press.name === 'escape') {
    const escape = named('escape')
    return press.sequence === '\u001b\u001b' ? [escape, escape] : [escape]
  }
  // Also right behind an Esc, with which it arrives as one.
  if (press.sequence?.endsWith('\u0003') === true) return [named('ctrl-c')]
  return [toKey(text, press)]
}

function toKey(text: string | undefined, { name = '', ctrl, meta, shift }: Keypress): Key {
  if (meta === true) return named('unbound')
  if (name === 'tab') return named(shift === true ? 'shift-tab' : 'tab')
  const known = NAMED[name]
  if (known !== undefined && (ctrl !== true || name === 'backspace')) return named(known)
  if (ctrl === true) {
    const letter = CTRL_LETTERS.find(each => each === name)
    return named(letter === undefined ? 'unbound' : `ctrl-${letter}`)
  }
  return text !== undefined && !/[\u0000-\u001f\u007f-\u009f]/u.test(text) && text !== ''
    ? { kind: 'text', text }
    : named('unbound')
}

function named(name: KeyName): Key {
  return { kind: 'named', name }
}

export interface KeyListener {
  key(key: Key): void
  /** Text that the terminal says was pasted. */
  paste(text: string): void
}

export interface KeyReader {
  read(chunk: string | Buffer): void
  close(): void
}

// How long a lone Esc is waited on, since other keys begin with one.
const ESCAPE_MS = 50

/**
 * Turns what a terminal sends into keys. Readline decodes on an emitter of our own: on the input itself it would leave
 * a listener behind, and wait ten times as long for what may follow an Esc.
 */
export function keyReader(listener: KeyListener): KeyReader {
  const stream = new EventEmitter()
  emitKeypressEvents(
    stream as unknown as NodeJS.ReadableStream,
    { escapeCodeTimeout: ESCAPE_MS } as unknown as Parameters<typeof emitKeypressEvents>[1],
  )
  let pasted: string | undefined
  const onKeypress = (text: string | undefined, press: Keypress): void => {
    if (press.name === 'paste-start') {
      pasted = ''
      return
    }
    if (press.name === 'paste-end') {
      if (pasted !== undefined) listener.paste(pasted)
      pasted = undefined
      return
    }
    const keys = toKeys(text, press)
    const isDismissal = keys.some(key => key.kind === 'named' && key.name === 'ctrl-c')
    // A paste whose end is lost must not lock the person out.
    if (pasted !== undefined && !isDismissal) {
      pasted += press.sequence ?? text ?? ''
      return
    }
    for (const key of keys) listener.key(key)
  }
  stream.on('keypress', onKeypress)
  return {
    read: chunk => void stream.emit('data', typeof chunk === 'string' ? Buffer.from(chunk) : chunk),
    close: () => void stream.off('keypress', onKeypress),
  }
}
