import type { AskUserQuestionAnswer, ProviderRequest } from '@handraise/user-questions/types'
import { describeOutcome, parting, shortName } from './document.ts'
import { keyReader } from './keys.ts'
import { cutLine, type Line } from './line.ts'
import { painter, wantsColour } from './paint.ts'
import { reduce, type PromptEvent } from './reduce.ts'
import { render, type Frame } from './render.ts'
import { Screen } from './screen.ts'
import { holdTerminal, type Session } from './session.ts'
import { openPrompt, type PromptState } from './state.ts'
import { takenDown } from './taken-down.ts'
import { pauseOf, setRaw, write, type Terminal } from './terminal.ts'

// A window that is dragged has many sizes: what was drawn is found again only for a size that has come to rest.
const RESIZED_MS = 50

// How often a process that goes on in the background looks whether it has its terminal again.
const BACKGROUND_MS = 500

/**
 * Puts a request to the person by redrawing in place. Whatever ends it, the terminal is given back as it was; of an
 * answered one, a line for each question stays, and of one that was settled elsewhere, a line that says by whom.
 */
export function askRich(request: ProviderRequest, terminal: Terminal): Promise<AskUserQuestionAnswer> {
  const { input, output, clock, armingDelayMs } = terminal
  const screen = new Screen(output, painter(wantsColour(terminal.env)))
  let state = openPrompt(request.questions, {
    now: clock.now(),
    deadlineAt: request.deadlineAt,
    pauseMs: pauseOf(terminal),
  })
  let frame: Frame | undefined
  let left: readonly Line[] = []
  let cancelTick = (): void => {}

  const begin = ({ borrowed, contained, end }: Session): void => {
    const draw = (): void => {
      frame = render(state, screen.size)
      screen.draw(frame)
      cancelTick()
      cancelTick = scheduleTick(state, terminal, now => step({ type: 'tick', now }))
    }
    const step = (event: PromptEvent): void =>
      contained(() => {
        const before = state
        state = reduce(state, event)
        if (state.engaged && !before.engaged) request.engaged()
        if (state.ending === undefined) {
          draw()
          // A long plan takes its time to be drawn; keys pressed meanwhile are read only now.
          if (state.shownAt !== before.shownAt) state = reduce(state, { type: 'shown', now: clock.now() })
          return
        }
        if (state.ending.kind === 'answered') left = summary(state, screen.size.columns)
        end(state.ending)
      })

    borrowed.add(() => cancelTick())
    for (const event of ['end', 'close', 'error']) borrowed.listen(input, event, () => step({ type: 'end' }))
    borrowed.listen(output, 'error', () => step({ type: 'end' }))
    let cancelRedraw = (): void => {}
    borrowed.add(() => cancelRedraw())
    borrowed.listen(output, 'resize', () => {
      cancelRedraw()
      cancelRedraw = clock.after(RESIZED_MS, () => contained(draw))
    })
    borrowed.listen(process, 'SIGWINCH', () => contained(() => output._refreshSize?.()))

    const wasRaw = input.isRaw === true
    setRaw(input, true)
    borrowed.add(() => setRaw(input, wasRaw))

    // A host that exits meanwhile would leave its shell without a cursor.
    borrowed.listen(process, 'exit', () => write(output, screen.restoring))
    screen.open()
    borrowed.add(() => screen.close(left))

    let cancelReturn = (): void => {}
    borrowed.add(() => cancelReturn())
    const comeBack = (): void =>
      contained(() => {
        cancelReturn()
        // To change the terminal from the background would stop the process again.
        if (!terminal.foreground()) {
          cancelReturn = clock.after(BACKGROUND_MS, comeBack)
          return
        }
        // The shell has set its own line mode meanwhile, and the stream would not set again what it believes is set.
        setRaw(input, false)
        setRaw(input, true)
        screen.reopen()
        draw()
      })
    borrowed.listen(process, 'SIGCONT', comeBack)

    const keys = keyReader({
      key: key => step({ type: 'key', key, now: clock.now(), viewport: frame?.viewport }),
      paste: text => step({ type: 'paste', text, now: clock.now() }),
    })
    borrowed.add(() => keys.close())
    borrowed.read(input)
    borrowed.listen(input, 'data', (chunk: string | Buffer) => contained(() => keys.read(chunk)))
    contained(draw)
    if (armingDelayMs > 0) borrowed.add(clock.after(armingDelayMs, () => step({ type: 'arm' })))
    else step({ type: 'arm' })
  }

  return holdTerminal(request, begin, () => {
    const line = takenDown(request.signal.reason, request.questions)
    if (line !== undefined) left = [cutLine(line, screen.size.columns)]
  })
}

// Once a second while time runs out, and when an Esc is no longer waited for.
function scheduleTick(
  { deadlineAt, escapeUntil, now }: PromptState,
  { clock }: Terminal,
  tick: (now: number) => void,
): () => void {
  const delays = [
    ...(deadlineAt === undefined ? [] : [1000]),
    ...(escapeUntil === undefined ? [] : [Math.max(0, escapeUntil - now) + 1]),
  ]
  return delays.length === 0 ? () => {} : clock.after(Math.min(...delays), () => tick(clock.now()))
}

function summary({ questions, drafts }: PromptState, columns: number): Line[] {
  return questions.map(({ question }, index) => {
    const name = shortName(question)
    const answer = describeOutcome(question, drafts[index]?.outcome)
    return cutLine(
      [
        { text: name + parting(name), role: 'faint' },
        { text: answer, role: 'plain' },
      ],
      columns,
    )
  })
}
