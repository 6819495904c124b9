import { autoProvider, type AutoProvider } from '@handraise/provider-auto'
import {
  OUTCOME_OF_CODE,
  UserQuestionError,
  visibleLine,
  type AskUserQuestionAnswer,
  type Question,
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
  const scripted = interactive ? undefined : autoProvider({ script: SCRIPT })
  const ctx = new Context()
  const provider = scripted ?? terminalProvider({ input, output })
  await ctx.plugin({ name: 'handraise', apply: applyPreset }, { provider })
  say(
    interactive
      ? 'A scripted agent asks you three questions.'
      : 'A scripted agent asks three questions; a script answers, as nobody can be asked here.',
  )
  try {
    return await runAgent(ctx, scripted)
  } finally {
    await ctx.fiber.dispose()
    close()
  }
}

// The first two go through the tool, as a model would call it; the plan review is the host's own, as the tool has none.
async function runAgent(ctx: Context, scripted: AutoProvider | undefined): Promise<ExitCode> {
  const agent = { id: 'demo-agent' }
  const leave = ctx.agents.enter(agent)
  const { signal } = new AbortController()
  try {
    for (const question of CALLS) {
      if (question.intent !== undefined) {
        report(question, await ctx.userQuestions.ask({ questions: [question], agent, signal }), scripted)
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
      report(question, result.value as AskUserQuestionAnswer, scripted)
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

function report(question: Question, answer: AskUserQuestionAnswer, scripted: AutoProvider | undefined): void {
  say('')
  say(`${question.header}: ${question.question}`)
  if (scripted !== undefined) for (const { label } of question.options ?? []) say(`  - ${label}`)
  for (const { selected, custom } of answer.answers) {
    const parts = [...selected, ...(custom === undefined ? [] : [JSON.stringify(visibleLine(custom))])]
    say(`  => ${parts.length === 0 ? '(skipped)' : parts.join(', ')}`)
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
