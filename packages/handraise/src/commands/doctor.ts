import { createServer } from 'node:net'
import { Context } from 'cordis'
import cordisManifest from 'cordis/package.json' with { type: 'json' }
import { judgeTerminal } from '@handraise/provider-terminal'
import manifest from '../../package.json' with { type: 'json' }
import { openTerminal } from '../controlling-terminal.ts'
import { hasDisplay } from '../display.ts'
import { apply as applyPreset } from '../preset.ts'

interface Surface {
  readonly name: string
  readonly ready: boolean
  readonly note: string
}

const SERVICES = ['userQuestions', 'agents', 'tools'] as const

/** `handraise doctor`: what is mounted, which surfaces could show a question here and now, versions. */
export async function doctor(asJson: boolean): Promise<void> {
  const ctx = new Context()
  await ctx.plugin({ name: 'handraise', apply: applyPreset })
  const mounted = {
    services: SERVICES.filter(name => ctx.get(name) !== undefined).map(name => `ctx.${name}`),
    tools: ctx.tools.schemas().map(tool => tool.name),
    provider: ctx.userQuestions.provider()?.name ?? 'none',
  }
  await ctx.fiber.dispose()
  const versions = {
    handraise: manifest.version,
    cordis: cordisManifest.version,
    node: process.versions.node,
  }
  const surfaces = [terminalSurface(), await webSurface(), autoSurface]
  process.stdout.write(
    asJson ? `${JSON.stringify({ versions, mounted, surfaces })}\n` : describe(versions, mounted, surfaces),
  )
}

function terminalSurface(): Surface {
  const { input, output, close } = openTerminal(false)
  const judged = judgeTerminal({ input, output, env: process.env })
  close()
  return judged.mode === 'none'
    ? { name: 'terminal', ready: false, note: `${judged.why}; ${judged.advice}` }
    : { name: 'terminal', ready: true, note: `${judged.mode} prompts` }
}

async function webSurface(): Promise<Surface> {
  const server = createServer()
  const fault = await new Promise<string | undefined>(resolve => {
    server.once('error', ({ message }) => resolve(message))
    server.listen(0, '127.0.0.1', () => resolve(undefined))
  })
  server.close()
  if (fault !== undefined) return { name: 'web', ready: false, note: `no page can be served here: ${fault}` }
  const opens = hasDisplay() ? 'opens in the browser' : 'no display here, its address is printed'
  return { name: 'web', ready: true, note: `a page on this machine, by ask --web and serve; ${opens}` }
}

const autoSurface: Surface = {
  name: 'auto',
  ready: true,
  note: 'answers only what --answers, --policy or --replay covers; nobody is asked',
}

function describe(
  versions: Readonly<Record<string, string>>,
  mounted: { services: string[]; tools: string[]; provider: string },
  surfaces: readonly Surface[],
): string {
  return [
    'versions',
    ...Object.entries(versions).map(([name, version]) => `  ${name} ${version}`),
    'mounted',
    `  services: ${mounted.services.join(', ')}`,
    `  tools: ${mounted.tools.join(', ')}`,
    `  provider: ${mounted.provider}`,
    'surfaces',
    ...surfaces.map(({ name, ready, note }) => `  ${name}: ${ready ? 'yes' : 'no'}, ${note}`),
    '',
  ].join('\n')
}
