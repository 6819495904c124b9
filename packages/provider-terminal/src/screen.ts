import ansi from 'ansi-escapes'
import { lineWidth } from './line.ts'
import type { Painter } from './paint.ts'
import { knownSize, type Frame, type Size } from './render.ts'
import { write, type TerminalOutput } from './terminal.ts'

const PASTE_ON = '\u001b[?2004h'
const PASTE_OFF = '\u001b[?2004l'
// A terminal that draws a character wider than it should then cuts the line instead of adding one.
const WRAP_OFF = '\u001b[?7l'
const WRAP_ON = '\u001b[?7h'

// From the second column on, when the line itself is empty: tmux takes a screen that is erased from its very beginning
// for one that was cleared, and keeps a copy of it in its history.
const ERASE_DOWN = `${ansi.eraseEndLine}${ansi.cursorForward()}${ansi.eraseDown}\r`

/** Draws frames in place, below what is on the terminal already. The cursor is hidden except where text is written. */
export class Screen {
  private readonly output: TerminalOutput
  private readonly paintLine: Painter
  // Widths of the lines on the screen, and the line the cursor is in: below the last when nothing is written.
  private widths: readonly number[] = []
  private cursorLine = 0
  // Rows right above them that a smaller screen has scrolled away, as the widths of lines.
  private lost: readonly number[] = []

  constructor(output: TerminalOutput, paintLine: Painter) {
    this.output = output
    this.paintLine = paintLine
  }

  get size(): Size {
    return knownSize({ columns: this.output.columns ?? 0, rows: this.output.rows ?? 0 })
  }

  open(): void {
    write(this.output, PASTE_ON + ansi.cursorHide)
  }

  /**
   * After the terminal was in other hands. What was drawn stays where it is: others may have written below it, and what
   * is theirs is not to be taken down.
   */
  reopen(): void {
    this.widths = []
    this.lost = []
    this.cursorLine = 0
    this.open()
  }

  draw({ lines, cursor }: Frame): void {
    // On a screen of one row, the line below would scroll the only one away.
    const below = lines.length < this.size.rows ? lines.length : lines.length - 1
    const painted =
      lines.map(line => this.paintLine(line)).join('\r\n') + (below === lines.length ? '\r\n' : '')
    let text = this.takeDown() + ansi.cursorHide + WRAP_OFF + painted + WRAP_ON
    this.widths = lines.map(lineWidth)
    this.cursorLine = below
    if (cursor !== undefined) {
      text += '\r' + up(below - cursor.row)
      if (cursor.column > 0) text += ansi.cursorForward(cursor.column)
      text += ansi.cursorShow
      this.cursorLine = cursor.row
    }
    write(this.output, text)
  }

  /** Takes the last frame off the screen and gives the terminal back; `lines` stay in its place. */
  close(lines: Frame['lines'] = []): void {
    const left = lines.map(line => `${this.paintLine(line)}\r\n`).join('')
    write(this.output, this.takeDown() + left + this.restoring)
  }

  /** What gives the terminal back, when there is no time to take anything down. */
  get restoring(): string {
    return WRAP_ON + PASTE_OFF + ansi.cursorShow
  }

  /**
   * From wherever the terminal has put the last frame. It breaks lines anew when it becomes narrower, so a line may
   * take several rows by now. The line the cursor is in is counted as one: some terminals leave that one alone, and
   * too few rows taken away leave a trace, where too many would take what is not ours.
   *
   * What a smaller screen scrolls away is out of reach, and most terminals bring it back when it grows again. It is
   * right above the rest then. Where they do not, the rest begins with the screen, and the cursor goes no higher.
   */
  private takeDown(): string {
    const { columns, rows } = this.size
    const rowsOf = (width: number): number => Math.max(1, Math.ceil(width / columns))
    const above = [...this.lost, ...this.widths.slice(0, this.cursorLine)]
    const total = above.reduce((sum, width) => sum + rowsOf(width), 0)
    let unreachable = total - (rows - 1)
    this.lost = above.filter(width => {
      const isLost = unreachable > 0
      unreachable -= rowsOf(width)
      return isLost
    })
    this.widths = []
    this.cursorLine = 0
    return `${up(total)}\r${ERASE_DOWN}`
  }
}

// A movement by no rows would be one by one row.
function up(rows: number): string {
  return rows > 0 ? ansi.cursorUp(rows) : ''
}
