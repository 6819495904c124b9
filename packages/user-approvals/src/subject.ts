import type { JsonValue } from '@handraise/inbox'
import { z } from 'zod'
import { findJsonFault } from './strict-json.ts'

/** A command line for a shell, or words that are run without one. */
export interface ShellSubject {
  readonly kind: 'shell'
  /** As it would be run, verbatim. With `argv` it is only how the caller writes it: the words are what counts. */
  readonly command: string
  /** The words that are run, when no shell reads the command. */
  readonly argv?: readonly string[] | undefined
  /** The directory it is run in. Absent: that of the tool, which is then neither shown nor held by a rule. */
  readonly cwd?: string | undefined
  /** What is set besides the agent's own environment. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

export const FILE_ACCESSES = ['read', 'write', 'create', 'delete', 'execute'] as const

export type FileAccess = (typeof FILE_ACCESSES)[number]

export interface FileAccessSubject {
  readonly kind: 'fileAccess'
  readonly path: string
  readonly access: FileAccess
  /** The workspace it is seen from, for the person to read; a rule goes by the path alone. */
  readonly workspaceRoot?: string | undefined
  /** A second path that the access is about, such as where a link points. No rule covers such an access. */
  readonly target?: string | undefined
}

export interface NetworkSubject {
  readonly kind: 'network'
  /** A name or an address, IPv6 in brackets or not; never with a port, a user or a path. */
  readonly host: string
  /** Absent is not the default port of a protocol: it is another subject. */
  readonly port?: number | undefined
  /** Such as `https`; letter case does not count. */
  readonly protocol?: string | undefined
}

/** A call of another tool, with its arguments. */
export interface ToolSubject {
  readonly kind: 'tool'
  readonly toolName: string
  readonly input: JsonValue
}

/**
 * What an approval is about: one concrete action. Neither the stages of a command nor what a path resolves to is part of
 * it: both are found out here, and never believed from outside.
 */
export type ApprovalSubject = ShellSubject | FileAccessSubject | NetworkSubject | ToolSubject

/** How large a subject may be. Lengths are in UTF-16 units. */
export const SUBJECT_BOUNDS = {
  /** A command, one word of it, or the value of one environment variable. */
  command: 65_536,
  /** The words of a command. */
  words: 1_000,
  /** Environment variables, and the name of one. */
  variables: 100,
  variableName: 256,
  path: 4_096,
  host: 255,
  protocol: 32,
  toolName: 200,
  /** The values and characters of a tool's input, and how deep they may nest. */
  input: 500_000,
  inputDepth: 64,
} as const

// A NUL ends a text for whoever runs it, and half a surrogate pair is run as another character than was shown.
const text = (name: string, most: number) =>
  z
    .string({ error: `${name} must be text` })
    .min(1, `${name} must not be empty`)
    .max(most, `${name} is longer than ${most} characters`)
    .refine(isTransportable, `${name} holds a NUL or half a surrogate pair`)

const emptiable = (name: string, most: number) =>
  z
    .string({ error: `${name} must be text` })
    .max(most, `${name} is longer than ${most} characters`)
    .refine(isTransportable, `${name} holds a NUL or half a surrogate pair`)

const { command, words, variables, variableName } = SUBJECT_BOUNDS

const argvSchema = z
  .array(emptiable('a word of argv', command))
  .min(1, 'argv must name a program')
  .max(words, `argv holds more than ${words} words`)
  .refine(argv => argv[0] !== '', 'argv[0] must not be empty')
  .refine(argv => lengthOf(argv) <= command, `argv is longer than ${command} characters`)

/** A record that is read by its own members alone would leave out what a program is started with all the same. */
const plainRecord = z.unknown().superRefine((env, context) => {
  const fault = findJsonFault(env, { size: variables * (variableName + 1) + command, depth: 1 })
  if (fault !== undefined)
    context.addIssue({ code: 'custom', path: [...fault.path], message: `env ${fault.message}` })
  else if (Object.hasOwn(Object(env) as object, '__proto__'))
    context.addIssue({ code: 'custom', message: 'env holds a variable that is named __proto__' })
})

export const environmentSchema = plainRecord.pipe(
  z
    .record(
      text('the name of an environment variable', variableName).refine(
        name => !name.includes('='),
        'the name of an environment variable holds a "="',
      ),
      emptiable('an environment variable', command),
    )
    .refine(env => Object.keys(env).length <= variables, `env holds more than ${variables} variables`)
    .refine(env => lengthOf(Object.values(env)) <= command, `env is longer than ${command} characters`),
)

const shellSubjectSchema = z.strictObject({
  kind: z.literal('shell'),
  command: text('command', command),
  argv: argvSchema.optional(),
  cwd: text('cwd', SUBJECT_BOUNDS.path).optional(),
  env: environmentSchema.optional(),
})

const fileAccessSubjectSchema = z.strictObject({
  kind: z.literal('fileAccess'),
  path: text('path', SUBJECT_BOUNDS.path),
  access: z.enum(FILE_ACCESSES, { error: `access must be one of ${FILE_ACCESSES.join(', ')}` }),
  workspaceRoot: text('workspaceRoot', SUBJECT_BOUNDS.path).optional(),
  target: text('target', SUBJECT_BOUNDS.path).optional(),
})

const networkSubjectSchema = z.strictObject({
  kind: z.literal('network'),
  host: text('host', SUBJECT_BOUNDS.host),
  port: z
    .int({ error: 'port must be a whole number' })
    .min(1, 'port must be at least 1')
    .max(65_535, 'port must be at most 65535')
    .optional(),
  protocol: text('protocol', SUBJECT_BOUNDS.protocol)
    .regex(/^[a-z][a-z0-9+.-]*$/iu, 'protocol must be a scheme such as https, without a colon')
    .optional(),
})

const toolSubjectSchema = z.strictObject({
  kind: z.literal('tool'),
  toolName: text('toolName', SUBJECT_BOUNDS.toolName),
  input: z.custom<JsonValue>().superRefine((input, context) => {
    const fault = findJsonFault(input, { size: SUBJECT_BOUNDS.input, depth: SUBJECT_BOUNDS.inputDepth })
    if (fault !== undefined)
      context.addIssue({ code: 'custom', path: [...fault.path], message: `input ${fault.message}` })
  }),
})

/**
 * A subject as it comes from outside. A member it does not know is refused: a subject is shown in full or not at all. The
 * bounds are `SUBJECT_BOUNDS`; no text holds a NUL or half a surrogate pair, but for the strings in a tool's input.
 */
export const subjectSchema = z.discriminatedUnion('kind', [
  shellSubjectSchema,
  fileAccessSubjectSchema,
  networkSubjectSchema,
  toolSubjectSchema,
]) satisfies z.ZodType<ApprovalSubject>

function isTransportable(value: string): boolean {
  return !/\u0000|\p{Cs}/u.test(value)
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, each) => sum + each.length, 0)
}
