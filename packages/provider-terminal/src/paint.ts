import pc from 'picocolors'
import type { Line, Role } from './line.ts'

export type Painter = (line: Line) => string

type Style = (text: string) => string

/** How each role looks. Without colour the text alone has to say everything, and it does. */
export function painter(colour: boolean): Painter {
  const colours = pc.createColors(colour)
  const plain: Style = text => text
  const styles: Readonly<Record<Role, Style>> = {
    plain,
    chip: text => colours.inverse(text),
    faint: text => colours.dim(text),
    question: text => colours.bold(text),
    detail: plain,
    label: plain,
    focused: text => colours.cyan(text),
    badge: text => colours.green(text),
    description: text => colours.dim(text),
    written: text => colours.cyan(text),
    hint: text => colours.yellow(text),
    controls: text => colours.dim(text),
  }
  return line => line.map(({ text, role }) => (text === '' ? '' : styles[role](text))).join('')
}

/** True unless `NO_COLOR` says otherwise. */
export function wantsColour(env: NodeJS.ProcessEnv): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}
