import { closeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { AUTO_POLICIES } from '@handraise/provider-auto'
import type { InboxClientError } from '@handraise/provider-web'
import manifest from '../package.json' with { type: 'json' }
import { CommandError } from './command-error.ts'
import type { AskOptions } from './commands/ask.ts'
import type { McpOptions } from './commands/mcp.ts'
import type { RulesOptions } from './commands/rules.ts'
import type { ServeOptions } from './commands/serve.ts'
import type { WireOptions } from './commands/wire.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { writeLine } from './json-line.ts'
import { handleSignals } from './signals.ts'

const program = new Command('handraise')
  .description('Asks the person an agent works for, and hands the answer back.')
  .version(manifest.version)
  .configureOutput({ writeErr: () => {} })
  .exitOverride()

const NOTIFY =
  'a shell command to run for each question, with a notice of it as one line of JSON on its input'
const NOTIFY_TEXT = 'that notice holds the questions and their options, too'
const LOG = [
  '--log <file>',
  'add a line of JSON to this file (or - for standard error) for all that is asked and settled',
] as const
const LOG_TEXT = ['--log-text', 'those lines hold what was asked and typed, too'] as const
const DB = [
  '--db <place>',
  'the database: a file, or the address of a PostgreSQL database, postgres://…, which any number of hosts share; default: the file handraise/inbox.db where this system keeps data',
] as const
const MEMORY = ['--memory', 'keep nothing on disk'] as const
const answerIn = (): Option =>
  new Option(
    '--answer-in <place>',
    'where people answer clients of MCP: a form in the client where it shows one, the inbox alone, or both; default: client',
  ).choices(['client', 'inbox', 'both'])
const CALL_LIMIT = [
  '--call-limit <seconds>',
  'how long a call of a client of MCP waits until it returns that nobody has answered yet; default: 50',
  readSeconds,
] as const
const AGENT = ['--agent <module>', 'an ES module with the agent that runs turns'] as const

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
  .option(
    '--inbox <url>',
    'ask through a served inbox, where people answer on any surface; default: HANDRAISE_INBOX, unless --web or an option of an ask in this terminal is given',
  )
  .option('--token-file <file>', 'the token of the inbox; default: HANDRAISE_TOKEN')
  .option('--session <id>', 'the session the question belongs to')
  .option('--key <key>', 'names it within the session: asking again finds it, and its answer')
  .option('--detach', 'with an inbox: print the id and return')
  .option('--web', 'ask on a page in the browser that is there for this one request')
  .option('--no-open', 'with --web: print the address of the page, and open no browser')
  .option('--notify <command>', NOTIFY)
  .option('--notify-text', NOTIFY_TEXT)
  .option('--no-bell', 'no bell when the question is shown in this terminal')
  .option(...LOG)
  .option(...LOG_TEXT)
  .addHelpText(
    'after',
    `
Examples:
  handraise ask request.json
  echo '{"questions":[{"id":"go","question":"Deploy?","options":[{"label":"Yes"},{"label":"No"}]}]}' | handraise ask -
  handraise ask request.json --answers answers.json --policy recommended
  handraise ask request.json --web

Exit: 0 answered, 1 internal fault, 2 bad input, 3 cancelled, 4 timed out, 5 nobody could be asked, 6 settled
already, 7 declined, 8 the person wrote back, 9 interrupted or aborted, 130 Ctrl-C before a prompt. What is not 0 writes one line of JSON,
{code, message, answers?, text?}, to standard error.`,
  )
  .action(async (file: string, options: AskOptions) => {
    exitCode = await (await import('./commands/ask.ts')).ask(file, options)
  })

program
  .command('demo')
  .description(
    'a scripted agent asks three questions: here and on a page when this is a terminal, else a script answers',
  )
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

program
  .command('serve')
  .description('keep an inbox and serve it on this machine, until Ctrl-C')
  .option(...DB)
  .option(...MEMORY)
  .option('--port <number>', 'default: the one it had before, else any', readPort)
  .option('--json', 'say where it listens as one line of JSON, {"url","token","page","wire","mcp"}')
  .option('--open', 'open the page in the browser')
  .option('--notify <command>', NOTIFY)
  .option('--notify-text', NOTIFY_TEXT)
  .option('--no-bell', 'no bell in this terminal when a question comes')
  .option(...LOG)
  .option(...LOG_TEXT)
  .option(...AGENT)
  .addOption(answerIn())
  .option(...CALL_LIMIT)
  .action(async (options: ServeOptions) => {
    exitCode = await (await import('./commands/serve.ts')).serve(options)
  })

program
  .command('wire')
  .description(
    'host sessions for the client that starts it: frames of the wire protocol on standard input and output',
  )
  .option(...DB)
  .option(...MEMORY)
  .option(...AGENT)
  .option(...LOG)
  .option(...LOG_TEXT)
  .addHelpText(
    'after',
    `
Ends with its standard input, or with a signal. Exit: 0 done, 1 internal fault, 2 bad usage, 3 no agent comes from the module, or
the database cannot be opened. Standard output holds frames and nothing else.`,
  )
  .action(async (options: WireOptions) => {
    exitCode = await (await import('./commands/wire.ts')).wire(options)
  })

program
  .command('mcp')
  .description(
    'offer ask_user_question to the MCP client that starts it: its frames on standard input and output',
  )
  .option(...DB)
  .option(...MEMORY)
  .addOption(answerIn())
  .option(...CALL_LIMIT)
  .option('--principal <name>', 'names who asks; what one has asked no other finds; default: local', readName)
  .option('--no-open', 'open no browser when something is to be answered on the page')
  .option(...LOG)
  .option(...LOG_TEXT)
  .addHelpText(
    'after',
    `
For a client's configuration: {"mcpServers":{"handraise":{"command":"npx","args":["-y","handraise","mcp"]}}}

Ends with its standard input, or with a signal. Exit: 0 done, 1 internal fault, 2 bad usage, 3 the database or the key beside it
cannot be used. Standard output holds frames and nothing else; the page's address goes to standard error.`,
  )
  .action(async (options: McpOptions) => {
    exitCode = await (await import('./commands/mcp.ts')).mcp(options)
  })

const inboxCommand = (name: string, description: string): Command =>
  program
    .command(name)
    .description(description)
    .option('--inbox <url>', 'the inbox; default: HANDRAISE_INBOX')
    .option('--token-file <file>', 'the token of the inbox; default: HANDRAISE_TOKEN')
    .option('--json', 'print JSON')

const inbox = () => import('./commands/inbox.ts')

inboxCommand('wait', 'wait until a request is settled, and print its answer')
  .argument('<id>', 'the id of a request', readId)
  .action(async (id: string, options) => {
    exitCode = await (await inbox()).wait(id, options)
  })

for (const [name, state] of [
  ['pending', 'pending'],
  ['history', 'settled'],
] as const) {
  inboxCommand(name, `list what is ${state}`)
    .option('--session <id>', 'of one session only')
    .option('--limit <number>', 'at most so many', readPositive)
    .action(async options => {
      exitCode = await (await inbox()).list(state, options)
    })
}

inboxCommand('show', 'show one request')
  .argument('<id>', 'the id of a request', readId)
  .action(async (id: string, options) => {
    exitCode = await (await inbox()).show(id, options)
  })

inboxCommand('answer', 'answer a request: with JSON, with a typed line, or with a prompt in this terminal')
  .argument('<id>', 'the id of a request', readId)
  .argument('[answer]', '{"answers":[{"id","selected":[labels],"custom"?}]}, or - for standard input')
  .option('--text <line>', 'a line as a person would type it: a number, a label, or free text')
  .option('--plain', 'numbered lines instead of a redrawn prompt')
  .action(async (id: string, given: string | undefined, options) => {
    exitCode = await (await inbox()).answer(id, given, options)
  })

inboxCommand('decline', 'say no to answering')
  .argument('<id>', 'the id of a request', readId)
  .option('--reason <text>')
  .action(async (id: string, options) => {
    exitCode = await (await inbox()).end(id, 'decline', options)
  })

inboxCommand('clarify', 'write back instead of answering')
  .argument('<id>', 'the id of a request', readId)
  .requiredOption('--text <text>')
  .action(async (id: string, options) => {
    exitCode = await (await inbox()).end(id, 'clarify', options)
  })

inboxCommand('cancel', 'dismiss a request without a decision')
  .argument('<id>', 'the id of a request', readId)
  .option('--reason <text>')
  .action(async (id: string, options) => {
    exitCode = await (await inbox()).end(id, 'cancel', options)
  })

const rules = program
  .command('rules')
  .description('list what was allowed for longer than once: the remembered rules of an inbox')
  .option(...DB)
  .option('--session <id>', 'those that hold in one session')
  .option('--json', 'print JSON')
  // What stands behind `revoke` is its own.
  .enablePositionalOptions()
  .action(async options => {
    exitCode = await (await import('./commands/rules.ts')).listRules(options)
  })

rules
  .command('revoke')
  .description('forget a rule: from now on people are asked again')
  .argument('<id>', 'the id of a rule', readId)
  .option(...DB)
  .option('--json', 'print JSON')
  .action(async (id: string, options: RulesOptions) => {
    exitCode = await (await import('./commands/rules.ts')).revokeRule(id, { ...rules.opts(), ...options })
  })

function readId(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('expected an id')
}

function readName(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('expected a name')
}

function readPort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new InvalidArgumentError('expected a port from 0 to 65535')
}

function readPositive(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new InvalidArgumentError('expected a whole number above 0')
}

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
    const { code, message, exitCode: failed } = await toCommandError(error)
    writeLine(process.stderr, { code, message })
    return failed
  }
}

async function toCommandError(error: unknown): Promise<CommandError> {
  if (error instanceof CommandError) return error
  if (error instanceof Error && error.name === 'InboxClientError') {
    return (await inbox()).refusalOf(error as InboxClientError)
  }
  return new CommandError('INTERNAL', error instanceof Error ? error.message : String(error), {
    cause: error,
  })
}

function usageMessage(error: CommanderError): string {
  if (error.code === 'commander.help') return 'name a command; see handraise --help'
  return `${error.message.replace(/^error: /u, '')}; see handraise --help`
}

handleSignals()

// A reader that has gone, or a terminal: what was lost by it is told where it was written, and is no reason to crash.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

// Node gives the terminal its modes back when it exits, and aborts where the terminal is gone (nodejs/node#51519).
const terminals = [0, 1, 2].filter(descriptor => isatty(descriptor))
process.on('exit', () => {
  for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor)
})

const code = await main()
// Unless the output was lost meanwhile, which has set one.
process.exitCode ??= code
