import { readFile } from 'node:fs/promises'
import type { InboxClient } from '@handraise/provider-web'
import { CommandError } from './command-error.ts'

export interface InboxChoice {
  /** The address of the server. */
  readonly inbox?: string | undefined
  readonly tokenFile?: string | undefined
}

/** The inbox that is named, by `--inbox` or `HANDRAISE_INBOX`, with the token of `--token-file` or `HANDRAISE_TOKEN`. */
export async function connectInbox(
  { inbox, tokenFile }: InboxChoice,
  env: NodeJS.ProcessEnv = process.env,
): Promise<InboxClient> {
  const url = inbox ?? inboxOfEnvironment(env)
  if (url === undefined || url === '') {
    throw new CommandError('BAD_USAGE', 'name the inbox with --inbox URL, or in HANDRAISE_INBOX')
  }
  if (!URL.canParse(url) || !/^https?:$/u.test(new URL(url).protocol)) {
    throw new CommandError('BAD_USAGE', `${url} is no address of an inbox; give it as http://127.0.0.1:PORT/`)
  }
  const { InboxClient } = await import('@handraise/provider-web')
  return new InboxClient({ url, token: await readToken(tokenFile, env), surface: 'command' })
}

/** What `HANDRAISE_INBOX` says; nothing where it is empty. */
export function inboxOfEnvironment(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const url = env['HANDRAISE_INBOX']
  return url === '' ? undefined : url
}

async function readToken(file: string | undefined, env: NodeJS.ProcessEnv): Promise<string> {
  if (file !== undefined) {
    try {
      return (await readFile(file, 'utf8')).trim()
    } catch (error) {
      throw new CommandError('BAD_INPUT', `${file} cannot be read: ${(error as Error).message}`, {
        cause: error,
      })
    }
  }
  const token = env['HANDRAISE_TOKEN']
  if (token !== undefined && token !== '') return token
  throw new CommandError(
    'BAD_USAGE',
    'give the token of the inbox in HANDRAISE_TOKEN, or in a file with --token-file',
  )
}
