import assert from 'node:assert/strict'
import type { Answer } from '@handraise/user-questions/types'
import type { AttachedSurface, ShownEnding, ShownRequest, SurfaceResult } from './surface-harness.ts'
import { within } from './scene.ts'

/** How often it is looked whether something has come to show, in milliseconds. */
const LOOK_EVERY_MS = 5

/** A surface as the person before it sees it, who waits for what is to come, and not for long. */
export class SurfaceSight {
  detached = false
  private readonly surface: AttachedSurface
  private readonly withinMs: number

  constructor(surface: AttachedSurface, withinMs: number) {
    this.surface = surface
    this.withinMs = withinMs
  }

  async shown(): Promise<readonly ShownRequest[]> {
    return this.inTime(async () => this.surface.shown(), 'shown()')
  }

  /** Resolves when exactly these are shown, each once, in whatever order. */
  async untilShows(ids: readonly string[], advice: string): Promise<void> {
    const wanted = ids.toSorted().join()
    await this.until(
      async () =>
        idsIn(await this.shown())
          .toSorted()
          .join() === wanted,
      async () => `${differenceOf(idsIn(await this.shown()), ids)}. ${advice}`,
    )
  }

  /** Resolves when the request is shown, whatever else is. */
  async untilSees(id: string, advice: string): Promise<void> {
    await this.until(
      async () => idsIn(await this.shown()).includes(id),
      async () => `${differenceOf(idsIn(await this.shown()), [id])}. ${advice}`,
    )
  }

  async untilTold(id: string, advice: string): Promise<ShownEnding> {
    let told: ShownEnding | undefined
    await this.until(
      async () => (told = await this.inTime(async () => this.surface.ended?.(id), 'ended()')) !== undefined,
      async () => `the person is not told how the request ended. ${advice}`,
    )
    return told ?? assert.fail('nothing is told')
  }

  /** Resolves when `holds`. */
  async until(holds: () => Promise<boolean>, complaint: () => Promise<string>): Promise<void> {
    const start = performance.now()
    while (!(await holds())) {
      if (performance.now() - start > this.withinMs)
        assert.fail(`after ${this.withinMs} ms ${await complaint()}`)
      await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
    }
  }

  async answer(id: string, answers: readonly Answer[]): Promise<SurfaceResult> {
    return this.decided('answer', async () => this.surface.answer(id, answers))
  }

  async decline(id: string): Promise<SurfaceResult> {
    return this.decided('decline', async () => this.surface.decline?.(id))
  }

  async engage(id: string): Promise<void> {
    await this.inTime(async () => this.surface.engage?.(id), 'engage()')
  }

  /** Breaks the connection. Resolves with what mends it. */
  async disconnect(): Promise<() => Promise<void>> {
    const mend = await this.inTime(async () => this.surface.disconnect?.(), 'disconnect()')
    assert.equal(
      typeof mend,
      'function',
      'disconnect() is to resolve with a function that mends the connection',
    )
    return () => this.inTime(async () => mend?.(), 'what disconnect() resolved with')
  }

  async detach(): Promise<void> {
    this.detached = true
    await this.inTime(async () => this.surface.detach(), 'detach()')
  }

  private async decided(
    how: string,
    decide: () => Promise<SurfaceResult | undefined>,
  ): Promise<SurfaceResult> {
    const result = await this.inTime(decide, `${how}()`).catch((error: unknown) => {
      const advice =
        "It is to resolve with what the person is told: { result: 'settled' }, or { result: 'late' } when somebody was faster"
      throw new Error(`${how}() of the surface rejected: ${String(error)}. ${advice}`, { cause: error })
    })
    assert.ok(
      result?.result === 'settled' || result?.result === 'late',
      `${how}() is to resolve with { result: 'settled' } or { result: 'late' }, it gave ${JSON.stringify(result)}`,
    )
    return result
  }

  private inTime<T>(step: () => Promise<T>, what: string): Promise<T> {
    return within(step(), this.withinMs, `${what} of the surface`)
  }
}

function idsIn(shown: readonly ShownRequest[]): string[] {
  assert.ok(Array.isArray(shown), `shown() is to give a list, it gave ${JSON.stringify(shown)}`)
  return shown.map(({ id }) => id)
}

function differenceOf(shown: readonly string[], wanted: readonly string[]): string {
  const missing = wanted.filter(id => !shown.includes(id))
  const extra = shown.filter(id => !wanted.includes(id))
  const twice = [...new Set(shown.filter((id, index) => shown.indexOf(id) !== index))]
  const parts = [
    ...(missing.length > 0 ? [`${missing.length} of ${wanted.length} requests are not shown`] : []),
    ...(extra.length > 0 ? [`${extra.length} are shown that should not be`] : []),
    ...(twice.length > 0 ? [`${twice.length} are shown more than once`] : []),
  ]
  return parts.join(', and ') || 'what is shown has changed meanwhile'
}
