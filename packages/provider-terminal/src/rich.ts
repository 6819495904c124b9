import type { AskUserQuestionAnswer, ProviderRequest } from '@handraise/user-questions/types'
import { describeOutcome, parting, shortName } from './document.ts'
import { keyReader } from './keys.ts'
import { cutLine, type Line } from './line.ts'
import { painter, wantsColour } from './paint.ts'
import { reduce, type PromptEvent } from './reduce.ts'
import { render, type Frame } from './render.ts'
import { Screen } from './screen.ts'
import { holdTerminal } from './session.ts'
import { openPrompt, type PromptState } from './state.ts'
import type { Terminal } from './terminal.ts'

// A window that is dragged has many sizes: what was drawn is found again only for a size that has come to rest.
const RESIZED_MS = 50

// How long Enter does not count after the next question came up: longer than between the strokes of a held key.
const PAUSE_MS = 150

/**
 * Puts a request to the person by redrawing in place. Whatever ends it, the terminal is given back as it was; of an
 * answered one, a line for each question stays.
 */
export function askRich(request: ProviderRequest, terminal: Terminal): Promise<AskUserQuestionAnswer> {
  const { input, output, clock, armingDelayMs } = terminal
  const screen = new Screen(output, painter(wantsColour(terminal.env)))
  let state = openPrompt(request.questions, {
    now: clock.now(),
    deadlineAt: request.deadlineAt,
    pauseMs: Math.min(PAUSE_MS, armingDelayMs),
  })
  let frame: Frame | undefined
  let left: readonly Line[] = []
  let cancelTick = (): void => {}

  return holdTerminal(request, ({ borrowed, contained, end }) => {
    const draw = (): void => {
      frame = render(state, screen.size)
      screen.draw(frame)
      cancelTick()
      cancelTick = scheduleTick(state, terminal, now => step({ type: 'tick', now }))
    }
    const step = (event: PromptEvent): void =>
      contained(() => {
        const wasEngaged = state.engaged
        state = reduce(state, event)
        if (state.engaged && !wasEngaged) request.engaged()
        if (state.ending === undefined) return draw()
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
    borrowed.add(() => void input.setRawMode?.(wasRaw))
    input.setRawMode?.(true)

    // A host that exits meanwhile would leave its shell without a cursor.
    borrowed.listen(process, 'exit', () => void output.write(screen.restoring))
    borrowed.add(() => screen.close(left))
    screen.open()

    const keys = keyReader({
      key: key => step({ type: 'key', key, now: clock.now(), viewport: frame?.viewport }),
      paste: text => step({ type: 'paste', text, now: clock.now() }),
    })
    borrowed.add(() => keys.close())
    borrowed.read(input)
    borrowed.listen(input, 'data', (chunk: string | Buffer) => contained(() => keys.read(chunk)))
    draw()
    if (armingDelayMs > 0) borrowed.add(clock.after(armingDelayMs, () => step({ type: 'arm' })))
    else step({ type: 'arm' })
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
