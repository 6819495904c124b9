/** Lines of a text, from the first to before the last. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** Which part of the text the person sees, and where in it the rows are. */
export interface Viewport {
  /** The first line shown. */
  readonly top: number
  /** Lines shown. */
  readonly height: number
  /** Lines there are. */
  readonly total: number
  readonly rows: readonly Range[]
}

/** A row is known by its first line, where the mark of the focus stands. */
export function isInSight({ from }: Range, { top, height }: Pick<Viewport, 'top' | 'height'>): boolean {
  return from >= top && from < top + height
}

/** Moves by a screenful less one line. `undefined` when there is nothing more that way. */
export function turnPage(viewport: Viewport, by: 1 | -1): Viewport | undefined {
  const { top, height, total } = viewport
  const wanted = top + by * Math.max(1, height - 1)
  const moved = Math.min(Math.max(wanted, 0), Math.max(0, total - height))
  return moved === top ? undefined : { ...viewport, top: moved }
}

/** The row to focus once the page was turned: the same while it is in sight or none else is. */
export function rowInSight(viewport: Viewport, focus: number, by: 1 | -1): number {
  const current = viewport.rows[focus]
  if (current === undefined || isInSight(current, viewport)) return focus
  const inSight = viewport.rows.flatMap((range, index) => (isInSight(range, viewport) ? [index] : []))
  return (by === 1 ? inSight[0] : inSight.at(-1)) ?? focus
}
