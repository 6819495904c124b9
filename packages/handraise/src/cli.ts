import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { AUTO_POLICIES } from '@handraise/provider-auto'
import manifest from '../package.json' with { type: 'json' }
import { CommandError } from './command-error.ts'
import { writeLine, type AskOptions } from './commands/ask.ts'
import { EXIT, type ExitCode } from './exit-code.ts'

const program = new Command('handraise')
  .description('Asks the person an agent works for, and hands the answer back.')
  .version(manifest.version)
  .configureOutput({ writeErr: () => {} })
  .exitOverride()

let exitCode: ExitCode = EXIT.answered

program
  .command('ask')
  .description(
    'ask what a JSON file (or - for standard input) asks; the answer is one line of JSON on standard output',
  )
  .argument('<file>', 'the request: {"questions":[{"id","question","options":[{"label"}]}]}')
  .option(
    '--answers <file>',
    'answer from a script: {"id":"label"} or [{"match":{"id","header","question"},"answer"}]',
  )
  .addOption(new Option('--policy <name>', 'answer what no script covers').choices(AUTO_POLICIES))
  .option('--replay <file>', 'answer from a recording')
  .option('--record <file>', 'add what is answered to a recording')
  .option('--plain', 'numbered lines instead of a redrawn prompt')
  .option('--timeout <seconds>', 'how long to wait for an answer', readSeconds)
  .option('--json', 'print how it ended, whatever that was, instead of the bare answer')
  .addHelpText(
    'after',
    `
Examples:
  handraise ask request.json
  echo '{"questions":[{"id":"go","question":"Deploy?","options":[{"label":"Yes"},{"label":"No"}]}]}' | handraise ask -
  handraise ask request.json --answers answers.json --policy recommended

Exit: 0 answered, 1 internal fault, 2 bad input, 3 cancelled, 4 timed out, 5 nobody could be asked, 7 declined,
8 the person wrote back, 9 interrupted or aborted, 130 Ctrl-C before a prompt. What is not 0 writes one line of JSON,
{code, message, answers?, text?}, to standard error.`,
  )
  .action(async (file: string, options: AskOptions) => {
    exitCode = await (await import('./commands/ask.ts')).ask(file, options)
  })

program
  .command('demo')
  .description('a scripted agent asks three questions: here when this is a terminal, else a script answers')
  .action(async () => {
    exitCode = await (await import('./commands/demo.ts')).demo()
  })

program
  .command('doctor')
  .description('what is mounted, and where a question could be shown here and now')
  .option('--json', 'the same as JSON')
  .action(async (options: { json?: boolean }) => {
    await (await import('./commands/doctor.ts')).doctor(options.json === true)
  })

function readSeconds(text: string): number {
  const seconds = Number(text)
  if (text.trim() !== '' && seconds > 0 && seconds < Infinity) return seconds
  throw new InvalidArgumentError('expected a number of seconds above 0')
}

async function main(): Promise<ExitCode> {
  try {
    await program.parseAsync()
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.answered
      writeLine(process.stderr, { code: 'BAD_USAGE', message: usageMessage(error) })
      return EXIT.badInput
    }
    const {
      code,
      message,
      exitCode: failed,
    } = error instanceof CommandError ? error : new CommandError('INTERNAL', String(error), { cause: error })
    writeLine(process.stderr, { code, message })
    return failed
  }
}

function usageMessage(error: CommanderError): string {
  if (error.code === 'commander.help') return 'name a command; see handraise --help'
  return `${error.message.replace(/^error: /u, '')}; see handraise --help`
}

process.exitCode = await main()
