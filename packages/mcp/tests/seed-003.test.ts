import { acceptedContent, inputRequired, Pauses, type PauseContext } from '@handraise/mcp'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accept, CANCEL, connect, DECLINE, ERAS, makeServer, textOf, type Reply } from './pause-scene.ts'

// The program of seed 003. What its framework gave it by decorators is given by a registration and a constructor here; the
// body of `dropTable` is the seed's.
class DatabaseController {
  readonly dropped: string[] = []
  private readonly logger: { warn(text: string, data: object): void }

  constructor(logger: { warn(text: string, data: object): void }) {
    this.logger = logger
  }

  async dropTable(input: { tableName: string }, ctx: PauseContext) {
    // 1. Check if client previously responded to the confirmation elicitation
    const confirmed = acceptedContent<boolean>(ctx.inputResponses, 'confirm_delete')
    // 2. If confirmation has not been provided yet, return inputRequired marker
    if (confirmed !== true) {
      return inputRequired({
        requests: [
          {
            id: 'confirm_delete',
            message: `CRITICAL: Permanent deletion of table '${input.tableName}'. Proceed?`,
            schema: { type: 'boolean' },
            kind: 'form',
          },
        ],
        requestState: { table: input.tableName },
        message: 'Explicit user confirmation is mandatory before executing drop operation.',
      })
    }
    // 3. User confirmed: execute destructive operation
    this.logger.warn('Executing destructive table drop', {
      table: input.tableName,
      user: ctx.http?.authInfo?.clientId,
    })
    await this.executeDrop(input.tableName)
    return {
      success: true,
      dropped: input.tableName,
      timestamp: new Date().toISOString(),
    }
  }

  private async executeDrop(table: string): Promise<void> {
    this.dropped.push(table)
  }
}

async function dropUsers(era: (typeof ERAS)[number], replies: readonly Reply[]) {
  const warned: object[] = []
  const controller = new DatabaseController({ warn: (_, data) => void warned.push(data) })
  const pauses = new Pauses()
  const build = () =>
    makeServer(server =>
      pauses.registerTool(
        server,
        'drop_table',
        {
          description: 'Permanently deletes an entire database table with explicit user confirmation',
          inputSchema: z.object({ tableName: z.string().describe('Target database table name') }),
        },
        (input, ctx) => controller.dropTable(input, ctx),
      ),
    )
  const authInfo = { token: 't', clientId: 'ann', scopes: [] }
  const { client, shown } = await connect(era, build, { replies, authInfo })
  const result = await client.callTool({ name: 'drop_table', arguments: { tableName: 'users' } })
  return { result, shown, dropped: controller.dropped, warned }
}

test.each(ERAS)('a table is dropped once the person confirmed, by a client of %s', async era => {
  const { result, shown, dropped, warned } = await dropUsers(era, [accept(true)])
  expect(dropped).toEqual(['users'])
  expect(result.isError).toBeUndefined()
  expect(result.structuredContent).toMatchObject({ success: true, dropped: 'users' })
  expect(JSON.parse(textOf(result))).toEqual(result.structuredContent)
  expect(warned).toEqual([{ table: 'users', ...(era === '2026' ? { user: 'ann' } : {}) }])
  expect(shown).toEqual([
    expect.objectContaining({
      mode: 'form',
      message:
        "Explicit user confirmation is mandatory before executing drop operation.\n\nCRITICAL: Permanent deletion of table 'users'. Proceed?",
      requestedSchema: { type: 'object', properties: { answer: { type: 'boolean' } }, required: ['answer'] },
    }),
  ])
})

test.each([
  ['declined', DECLINE, 'was declined in the client'],
  ['dismissed', CANCEL, 'was dismissed in the client without a decision'],
  ['answered with no', accept(false), 'The user answered false to'],
] as const)('nothing is dropped when it is %s, and nobody is asked twice', async (_, reply, told) => {
  for (const era of ERAS) {
    const { result, shown, dropped, warned } = await dropUsers(era, [reply])
    expect(dropped).toEqual([])
    expect(warned).toEqual([])
    expect(shown).toHaveLength(1)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain(told)
    expect(textOf(result)).toContain('drop_table did not go on')
  }
})
