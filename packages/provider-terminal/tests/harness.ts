import { stripVTControlCharacters } from 'node:util'
import type { Answer, ProviderRequest, Question } from '@handraise/user-questions/types'
import type { PersonAct, ProviderHarness } from '@handraise/user-questions/testing'
import { terminalProvider, type TerminalOptions, type TerminalProvider } from '../src/index.ts'
import { FakeInput, FakeOutput } from './fake-terminal.ts'

const BYTES: Readonly<Record<string, string>> = {
  enter: '\r',
  escape: '\u001b',
  space: ' ',
  tab: '\t',
  'shift-tab': '\u001b[Z',
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  home: '\u001b[H',
  end: '\u001b[F',
  'page-up': '\u001b[5~',
  'page-down': '\u001b[6~',
  delete: '\u001b[3~',
  backspace: '\u007f',
}

/** What a terminal sends for a key by its name, such as `enter`, `down` or `ctrl-c`; any other text is typed as it is. */
export function bytesOf(key: string): string {
  const control = /^ctrl-([a-z])$/u.exec(key)?.[1]
  if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) - 96)
  return BYTES[key] ?? key
}

export interface TerminalPerson {
  readonly provider: TerminalProvider
  readonly input: FakeInput
  readonly output: FakeOutput
  /** Presses keys by name, or types text. */
  press(...keys: string[]): void
  /** What is on the screen now; in plain mode all that was printed. */
  screen(): string
  close(): void
}

/** A provider on streams that say they are a terminal, and the person in front of it. Keys count at once. */
export function terminalPerson(options: TerminalOptions = {}): TerminalPerson {
  const input = new FakeInput()
  const output = new FakeOutput()
  const provider = terminalProvider({
    input,
    output,
    env: {},
    armingDelayMs: 0,
    foreground: () => true,
    ...options,
  })
  return {
    provider,
    input,
    output,
    press(...keys) {
      for (const key of keys) input.push(bytesOf(key))
    },
    screen: () => (options.plain === true ? stripVTControlCharacters(output.text) : output.screen),
    close: () => void input.destroy(),
  }
}

/** The person of the provider suite, at a terminal: each act in keys, or in lines where `plain` is set. */
export function terminalHarness({ plain = false }: { readonly plain?: boolean } = {}): ProviderHarness {
  return {
    open(person) {
      const terminal = terminalPerson({ plain })
      const waiting: ProviderRequest[] = []
      const act = plain ? typeAct : pressAct
      terminal.output.onWrite = text => {
        if (!opensRequest(text)) return
        while (waiting[0]?.signal.aborted === true) waiting.shift()
        const request = waiting.shift()
        // The keys follow the picture, as those of a person do.
        if (request !== undefined) setImmediate(() => act(request, person(request), terminal))
      }
      const { name, ask } = terminal.provider
      return {
        provider: {
          name,
          ask(request) {
            waiting.push(request)
            return ask(request)
          },
        },
        close: terminal.close,
      }
    },
  }
}

// What is written first for a request: in plain mode its heading, else the switch to marked pastes.
function opensRequest(text: string): boolean {
  return text.startsWith('Question') || text.includes('\u001b[?2004h')
}

function pressAct({ questions }: ProviderRequest, act: PersonAct, { press }: TerminalPerson): void {
  switch (act.act) {
    case 'answer':
      answerAll(questions, act.answers, press)
      if (questions.length > 1) press('enter')
      return
    case 'dismiss':
      answerAll(questions, act.after ?? [], press)
      press('ctrl-c')
      return
    case 'decline':
      press('escape', 'escape')
      return
    case 'nothing':
      return
  }
}

function answerAll(
  questions: readonly Question[],
  answers: readonly Answer[],
  press: TerminalPerson['press'],
): void {
  for (const answer of answers) {
    const question = questions.find(({ id }) => id === answer.id)
    const options = question?.options ?? []
    const custom = answer.custom === undefined ? [] : [answer.custom]
    if (answer.selected.length === 0 && custom.length === 0) {
      press('ctrl-s')
      continue
    }
    for (const label of answer.selected) {
      const row = options.findIndex(option => option.label === label)
      press('home', ...Array.from({ length: row }, () => 'down'))
      if (question?.multiSelect === true) press('space')
    }
    if (custom.length > 0 && options.length > 0) press('end')
    press(...custom, 'enter')
  }
}

function typeAct({ questions }: ProviderRequest, act: PersonAct, { input }: TerminalPerson): void {
  const type = (line: string): void => void input.push(`${line}\n`)
  const answer = (answers: readonly Answer[]): void => {
    for (const each of answers) {
      const question = questions.find(({ id }) => id === each.id)
      const numbers = each.selected.map(
        label => (question?.options ?? []).findIndex(option => option.label === label) + 1,
      )
      if (numbers.length > 0 && each.custom !== undefined) type(`/add ${each.custom}`)
      type(numbers.length > 0 ? numbers.join(',') : (each.custom ?? '/skip'))
    }
  }
  switch (act.act) {
    case 'answer':
      answer(act.answers)
      if (questions.length > 1) type('send')
      return
    case 'dismiss':
      answer(act.after ?? [])
      type('/dismiss')
      return
    case 'decline':
      type('/decline')
      return
    case 'nothing':
      return
  }
}
