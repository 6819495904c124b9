import { autoProvider } from '@handraise/provider-auto'
import type { InboxServer } from '@handraise/provider-web'
import {
  OUTCOME_OF_CODE,
  UserQuestionError,
  visibleLine,
  type AskUserQuestionAnswer,
  type Question,
  type UserQuestionProvider,
} from '@handraise/user-questions'
import { Context } from 'cordis'
import { openTerminal } from '../controlling-terminal.ts'
import { EXIT, exitCodeOf, type ExitCode } from '../exit-code.ts'
import { apply as applyPreset } from '../preset.ts'

const CALLS: readonly Question[] = [
  {
    id: 'database',
    header: 'Database',
    question: 'Which database should the new service use?',
    options: [
      { label: 'SQLite (Recommended)', description: 'One file, nothing to run beside it.' },
      { label: 'Postgres', description: 'A server, for more than one machine.' },
    ],
  },
  {
    id: 'checks',
    header: 'Checks',
    question: 'Which checks should run before a release?',
    multiSelect: true,
    options: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }, { label: 'Load test' }],
  },
  {
    id: 'plan',
    header: 'Plan',
    question: 'Shall I go ahead with this plan?',
    detail: '1. Add the table `notes`.\n2. Serve it under `/notes`.\n3. Write the tests first.',
    options: [{ label: 'Approve' }, { label: 'Keep planning' }],
    intent: { kind: 'plan-review', approve: 'Approve' },
  },
]

const SCRIPT = {
  database: 'SQLite (Recommended)',
  checks: { selected: ['Lint', 'Tests'], custom: 'and a look at the docs, please' },
  plan: 'Approve',
}

/** `handraise demo`: an agent without a model that asks three questions, one after the other. */
export async function demo(): Promise<ExitCode> {
  const { judgeTerminal, terminalProvider } = await import('@handraise/provider-terminal')
  const { input, output, close } = openTerminal(false)
  const interactive = judgeTerminal({ input, output, env: process.env }).mode !== 'none'
  const ctx = new Context()
  try {
    if (interactive) return await askPerson(ctx, terminalProvider({ input, output }))
    const provider = autoProvider({ script: SCRIPT })
    await ctx.plugin({ name: 'handraise', apply: applyPreset }, { provider })
    say('A scripted agent asks three questions; a script answers, as nobody can be asked here.')
    return await runAgent(ctx, { offered: true })
  } finally {
    await ctx.fiber.dispose()
    close()
  }
}

// In the terminal and on a page at once: whichever is answered first.
async function askPerson(ctx: Context, provider: UserQuestionProvider): Promise<ExitCode> {
  const { mountInbox, mountPage } = await import('../mount-page.ts')
  await ctx.plugin({ name: 'handraise', apply: applyPreset }, { provider })
  await mountInbox(ctx)
  let server: InboxServer
  try {
    server = await mountPage(ctx)
  } catch (error) {
    say(`No page can be served here, so it is this terminal alone: ${(error as Error).message}`)
    say('A scripted agent asks you three questions.')
    return runAgent(ctx, {})
  }
  const [{ pageUrl }, { linger }] = await Promise.all([
    import('@handraise/provider-web'),
    import('../linger.ts'),
  ])
  // A line of its own, which fits in 80 columns.
  say('A scripted agent asks you three questions. Answer each here, or on this page:')
  say(pageUrl(server))
  const exitCode = await runAgent(ctx, { place: await lastPlace(ctx) })
  await linger(server)
  return exitCode
}

/** Says of what was asked last where it was settled, such as `web`. */
async function lastPlace({ inbox: { core } }: Context): Promise<() => Promise<string | undefined>> {
  let last = ''
  await core.follow({
    entry({ change, request: { id } }) {
      if (change === 'opened') last = id
    },
    lost() {},
  })
  return async () => (await core.get(last)).settlement?.surface
}

interface Telling {
  /** The options are shown, as nobody else has shown them. */
  readonly offered?: boolean
  /** Where the question was settled that was asked last. */
  readonly place?: () => Promise<string | undefined>
}

// The first two go through the tool, as a model would call it; the plan review is the host's own, as the tool has none.
async function runAgent(ctx: Context, telling: Telling): Promise<ExitCode> {
  const agent = { id: 'demo-agent' }
  const leave = ctx.agents.enter(agent)
  const { signal } = new AbortController()
  try {
    for (const question of CALLS) {
      if (question.intent !== undefined) {
        await report(question, await ctx.userQuestions.ask({ questions: [question], agent, signal }), telling)
        continue
      }
      const { multiSelect, ...rest } = question
      const questions = [{ ...rest, ...(multiSelect === undefined ? {} : { multi_select: multiSelect }) }]
      const call = {
        callId: `call-${question.id}`,
        name: 'ask_user_question',
        arguments: { questions },
        agent,
        signal,
      }
      const result = await ctx.tools.execute(call)
      if (result.isError) {
        say(result.content)
        return exitCodeOf(
          OUTCOME_OF_CODE[result.error.code as keyof typeof OUTCOME_OF_CODE] ?? 'failed',
          undefined,
        )
      }
      await report(question, result.value as AskUserQuestionAnswer, telling)
    }
    say('The agent goes on with these answers.')
    return EXIT.answered
  } catch (error) {
    if (!UserQuestionError.isInstance(error)) throw error
    say(`Error: ${error.message}`)
    return exitCodeOf(OUTCOME_OF_CODE[error.code], error.code)
  } finally {
    leave()
  }
}

async function report(
  question: Question,
  { answers }: AskUserQuestionAnswer,
  { offered, place }: Telling,
): Promise<void> {
  const surface = await place?.()
  say('')
  say(`${question.header}: ${question.question}`)
  if (offered === true) for (const { label } of question.options ?? []) say(`  - ${label}`)
  for (const { selected, custom } of answers) {
    const parts = [...selected, ...(custom === undefined ? [] : [JSON.stringify(visibleLine(custom))])]
    const where = surface === undefined ? '' : ` (on ${visibleLine(surface)})`
    say(`  => ${parts.length === 0 ? '(skipped)' : parts.join(', ')}${where}`)
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
