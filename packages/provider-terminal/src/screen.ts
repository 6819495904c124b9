import ansi from 'ansi-escapes'
import { lineWidth } from './line.ts'
import type { Painter } from './paint.ts'
import { knownSize, type Frame, type Size } from './render.ts'
import type { TerminalOutput } from './terminal.ts'

const PASTE_ON = '\u001b[?2004h'
const PASTE_OFF = '\u001b[?2004l'
// A terminal that draws a character wider than it should then cuts the line instead of adding one.
const WRAP_OFF = '\u001b[?7l'
const WRAP_ON = '\u001b[?7h'

/** Draws frames in place, below what is on the terminal already. The cursor is hidden except where text is written. */
export class Screen {
  private readonly output: TerminalOutput
  private readonly paintLine: Painter
  // Widths of the lines on the screen, and the line the cursor is in: below the last when nothing is written.
  private widths: readonly number[] = []
  private cursorLine = 0

  constructor(output: TerminalOutput, paintLine: Painter) {
    this.output = output
    this.paintLine = paintLine
  }

  get size(): Size {
    return knownSize({ columns: this.output.columns ?? 0, rows: this.output.rows ?? 0 })
  }

  open(): void {
    this.output.write(PASTE_ON + ansi.cursorHide)
  }

  draw({ lines, cursor }: Frame): void {
    const painted = lines.map(line => `${this.paintLine(line)}\r\n`).join('')
    let text = this.takeDown() + ansi.cursorHide + WRAP_OFF + painted + WRAP_ON
    this.widths = lines.map(lineWidth)
    this.cursorLine = lines.length
    if (cursor !== undefined) {
      text += ansi.cursorUp(lines.length - cursor.row)
      if (cursor.column > 0) text += ansi.cursorForward(cursor.column)
      text += ansi.cursorShow
      this.cursorLine = cursor.row
    }
    this.output.write(text)
  }

  /** Takes the last frame off the screen and gives the terminal back; `lines` stay in its place. */
  close(lines: Frame['lines'] = []): void {
    const left = lines.map(line => `${this.paintLine(line)}\r\n`).join('')
    this.output.write(this.takeDown() + left + this.restoring)
  }

  /** What gives the terminal back, when there is no time to take anything down. */
  get restoring(): string {
    return WRAP_ON + PASTE_OFF + ansi.cursorShow
  }

  /**
   * From wherever the terminal has put the last frame. It breaks lines anew when it becomes narrower, so a line may
   * take several rows by now. The line the cursor is in is counted as one: some terminals leave that one alone, and
   * too few rows taken away leave a trace, where too many would take what is not ours.
   */
  private takeDown(): string {
    const { columns } = this.size
    const above = this.widths
      .slice(0, this.cursorLine)
      .reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0)
    this.widths = []
    this.cursorLine = 0
    return `${above > 0 ? ansi.cursorUp(above) : ''}\r${ansi.eraseDown}`
  }
}
