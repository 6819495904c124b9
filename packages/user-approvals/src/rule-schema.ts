import { z } from 'zod'
import { canonicalHost } from './canonical-host.ts'
import { isPlain } from './exact-text.ts'
import { mayTakeAnyWords } from './known-programs.ts'
import { environmentSchema, FILE_ACCESSES, SUBJECT_BOUNDS, type FileAccess } from './subject.ts'

/** A command, word by word. */
export interface ShellRule {
  readonly kind: 'shell'
  /** The program and its words. */
  readonly argv: readonly string[]
  /**
   * `none`: exactly these words. `any`: these words, and then any words that are no options, nor what stands for options
   * in some programs: none starts with `-`, `+` or `@`. Only for programs of which it is known that such words make them
   * run nothing; the words of the rule itself are no options either, since an option could take the next word.
   */
  readonly rest: 'none' | 'any'
  /** What is piped into it is part of what it does: a rule is for a stage that reads a pipe, or for one that does not. */
  readonly piped?: true | undefined
  /** The real path of the directory it is run in. Absent: for a command of which none is known. */
  readonly cwd?: string | undefined
  /** Exactly what is set besides the agent's own environment. Absent: nothing. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

export interface FileRule {
  readonly kind: 'fileAccess'
  /** Each once. */
  readonly access: readonly FileAccess[]
  /** A real path. */
  readonly path: string
  /** Everything below the path as well, by whole names: `/srv/app` does not hold `/srv/application`. */
  readonly within: boolean
}

export interface NetworkRule {
  readonly kind: 'network'
  /** In canonical form. */
  readonly host: string
  /** Absent: for a subject that names no port, and for no other. */
  readonly port?: number | undefined
  /** In lower case. Absent: for a subject that names none. */
  readonly protocol?: string | undefined
}

export interface ToolRule {
  readonly kind: 'tool'
  readonly toolName: string
  /** Of the exact input, by `digestOfInput`. */
  readonly inputDigest: string
}

/** What a person allowed more than once. There are no rules that deny. */
export interface ApprovalRule {
  readonly version: 1
  /** The tool it holds for. */
  readonly toolName: string
  readonly match: ShellRule | FileRule | NetworkRule | ToolRule
}

// A rule holds only what shows as itself, so that its preview is the rule.
const plain = (name: string, most: number) =>
  z.string().min(1).max(most).refine(isPlain, `${name} holds characters that do not show as themselves`)

const realPath = (name: string) =>
  plain(name, SUBJECT_BOUNDS.path).refine(
    path => path === '/' || (path.startsWith('/') && path.slice(1).split('/').every(isNameOfFile)),
    `${name} is no real path`,
  )

const toolNameSchema = plain('toolName', SUBJECT_BOUNDS.toolName)

const shellRuleSchema = z
  .strictObject({
    kind: z.literal('shell'),
    argv: z
      .array(
        z
          .string()
          .max(SUBJECT_BOUNDS.command)
          .refine(isPlain, 'a word holds characters that do not show as themselves'),
      )
      .min(1)
      .max(SUBJECT_BOUNDS.words)
      .refine(argv => argv[0] !== '', 'argv[0] must not be empty'),
    rest: z.enum(['none', 'any']),
    piped: z.literal(true).optional(),
    cwd: realPath('cwd').optional(),
    env: environmentSchema
      .refine(env => Object.keys(env).length > 0, 'env must be absent when nothing is set')
      .refine(
        env => Object.entries(env).every(pair => pair.every(isPlain)),
        'env holds characters that do not show as themselves',
      )
      .optional(),
  })
  .refine(({ argv, rest }) => rest === 'none' || mayTakeAnyWords(argv), {
    path: ['rest'],
    message: 'may be "any" only behind plain words of a program that runs nothing of what it is given',
  })

const fileRuleSchema = z
  .strictObject({
    kind: z.literal('fileAccess'),
    access: z
      .array(z.enum(FILE_ACCESSES))
      .min(1)
      .refine(access => new Set(access).size === access.length, 'access holds the same one twice'),
    path: realPath('path'),
    within: z.boolean(),
  })
  .refine(({ path, within }) => !within || path !== '/', {
    path: ['within'],
    message: 'would hold every file there is',
  })

const networkRuleSchema = z.strictObject({
  kind: z.literal('network'),
  host: z.string().max(SUBJECT_BOUNDS.host).refine(isCanonicalHost, 'host is not in canonical form'),
  port: z.int().min(1).max(65_535).optional(),
  protocol: z
    .string()
    .max(SUBJECT_BOUNDS.protocol)
    .regex(/^[a-z][a-z0-9+.-]*$/u)
    .optional(),
})

const toolRuleSchema = z.strictObject({
  kind: z.literal('tool'),
  toolName: toolNameSchema,
  inputDigest: z.string().regex(/^[\w-]{43}$/u, 'inputDigest is no digest'),
})

/** A rule as it comes from a store or a client. What it does not know, it refuses. */
export const ruleSchema = z.strictObject({
  version: z.literal(1),
  toolName: toolNameSchema,
  match: z.discriminatedUnion('kind', [shellRuleSchema, fileRuleSchema, networkRuleSchema, toolRuleSchema]),
}) satisfies z.ZodType<ApprovalRule>

function isNameOfFile(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..'
}

function isCanonicalHost(host: string): boolean {
  const canonical = canonicalHost(host)
  return 'host' in canonical && canonical.host === host
}
