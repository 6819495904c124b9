import { createInterface } from 'node:readline'
import type { AskUserQuestionAnswer, ProviderRequest } from '@handraise/user-questions/types'
import { lineText } from './line.ts'
import { describeView, promptOf, readLine } from './plain-session.ts'
import { reduce } from './reduce.ts'
import { holdTerminal } from './session.ts'
import { isTooEarly, openPrompt } from './state.ts'
import { takenDown } from './taken-down.ts'
import { pauseOf, write, type Terminal } from './terminal.ts'
import { WORDING } from './wording.ts'

/**
 * Puts a request to the person as lines, and reads lines back: nothing printed is ever changed, no cursor is moved and
 * no colour is used. Ctrl-C is the host's: the terminal stays in its own line mode.
 */
export function askPlain(request: ProviderRequest, terminal: Terminal): Promise<AskUserQuestionAnswer> {
  const { input, output, clock, armingDelayMs } = terminal
  let state = openPrompt(request.questions, {
    now: clock.now(),
    deadlineAt: request.deadlineAt,
    pauseMs: pauseOf(terminal),
  })

  return holdTerminal(
    request,
    ({ borrowed, contained, end }) => {
      const print = (lines: readonly string[]): void => write(output, lines.map(line => `${line}\n`).join(''))
      const onLine = (line: string): void =>
        contained(() => {
          if (!state.armed || isTooEarly(state, clock.now())) {
            if (state.armed) state = reduce(state, { type: 'shown', now: clock.now() })
            print([WORDING.plain.ignoredEarly])
          } else {
            if (!state.engaged) request.engaged()
            const before = state
            const step = readLine(state, line)
            state = step.state
            print(step.print)
            // What was typed ahead is read now, and was not meant for what is printed only now.
            if (state.view !== before.view) state = reduce(state, { type: 'shown', now: clock.now() })
          }
          if (state.ending === undefined) write(output, promptOf(state))
          else end(state.ending)
        })
      const endOfInput = (): void =>
        contained(() => {
          state = reduce(state, { type: 'end' })
          if (state.ending === undefined) return
          write(output, '\n')
          end(state.ending)
        })

      borrowed.listen(output, 'error', endOfInput)
      for (const event of ['close', 'error']) borrowed.listen(input, event, endOfInput)
      print(describeView(state))
      write(output, promptOf(state))
      const arm = (): void => void (state = reduce(state, { type: 'arm' }))
      if (armingDelayMs > 0) borrowed.add(clock.after(armingDelayMs, arm))
      else arm()

      borrowed.read(input)
      const lines = createInterface({ input, terminal: false, crlfDelay: Infinity })
      borrowed.add(() => lines.close())
      borrowed.listen(lines, 'line', onLine)
      borrowed.listen(lines, 'close', endOfInput)
      borrowed.listen(lines, 'error', endOfInput)
    },
    () => {
      const line = takenDown(request.signal.reason, request.questions)
      write(output, `\n${line === undefined ? WORDING.plain.withdrawn : lineText(line)}\n`)
    },
  )
}
