import type { InboxStore } from '@handraise/inbox'
import { RuleBook, UserApprovalError, type RememberedRule } from '@handraise/user-approvals'
import { visibleLine } from '@handraise/user-questions/types'
import { CommandError } from '../command-error.ts'
import { databaseFile, ofStore, openExistingDatabase } from '../database-file.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { writeLine } from '../json-line.ts'

export interface RulesOptions {
  /** The database file, or the address of a PostgreSQL database. */
  readonly db?: string | undefined
  readonly json?: boolean | undefined
}

/** `handraise rules`: what people have allowed for longer than once, the oldest first. */
export async function listRules(
  options: RulesOptions & { readonly session?: string | undefined },
): Promise<ExitCode> {
  await withStore(options, async store => {
    const rules = await Promise.all(
      (await new RuleBook(store).list(options.session)).map(rule => withSurface(store, rule)),
    )
    if (options.json === true) writeLine(process.stdout, rules)
    else for (const rule of rules) process.stdout.write(`${describe(rule)}\n`)
  })
  return EXIT.answered
}

/** `handraise rules revoke`: from now on people are asked again. */
export async function revokeRule(id: string, options: RulesOptions): Promise<ExitCode> {
  await withStore(options, async store => {
    const rule = await new RuleBook(store).revoke(id).catch((error: unknown) => {
      if (!UserApprovalError.isInstance(error)) throw error
      throw new CommandError('BAD_INPUT', error.message, { cause: error })
    })
    if (options.json === true) writeLine(process.stdout, rule)
    else process.stdout.write(`revoked  ${describe(rule)}\n`)
  })
  return EXIT.answered
}

type ListedRule = RememberedRule & { readonly surface?: string }

async function withStore({ db }: RulesOptions, use: (store: InboxStore) => Promise<void>): Promise<void> {
  const store = await openExistingDatabase(databaseFile(db), db)
  try {
    await use(store)
  } catch (error) {
    throw ofStore(error) ?? error
  } finally {
    await store.close()
  }
}

// Where it was allowed is kept with the approval that made the rule, for as long as that is.
async function withSurface(store: InboxStore, rule: RememberedRule): Promise<ListedRule> {
  const surface = (await store.get(rule.id))?.settlement?.surface
  return surface === undefined ? rule : { ...rule, surface }
}

// One line: the id first, so that it can be copied, and the rule last, whole however long.
function describe({ id, preview, session, surface, madeAt }: ListedRule): string {
  const parts = [
    id,
    new Date(madeAt).toISOString(),
    ...(surface === undefined ? [] : [`on ${surface}`]),
    session === undefined ? 'always' : `in the session ${session}`,
    preview,
  ]
  return visibleLine(parts.join('  '))
}
