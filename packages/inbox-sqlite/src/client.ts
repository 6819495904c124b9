/** What this package uses of a statement of `better-sqlite3`. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number }
  get(...values: SqliteValue[]): unknown
  all(...values: SqliteValue[]): unknown[]
}

export type SqliteValue = string | number | null

/** What this package uses of a connection of `better-sqlite3`. */
export interface SqliteDatabase {
  readonly open: boolean
  readonly inTransaction: boolean
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
  pragma(sql: string, options: { readonly simple: true }): unknown
  close(): unknown
}

/** Opens a connection. The default export of `better-sqlite3` is one. */
export type SqliteClient = new (
  file: string,
  options: { readonly readonly?: boolean; readonly fileMustExist?: boolean; readonly timeout?: number },
) => SqliteDatabase

/** Rejects with what to install when `better-sqlite3` is missing or its native part does not load. */
export async function loadClient(): Promise<SqliteClient> {
  try {
    const { default: Client } = await import('better-sqlite3')
    // The native part is loaded with the first connection.
    new Client(':memory:').close()
    return Client
  } catch (cause) {
    throw new Error(
      'better-sqlite3 could not be loaded: install it with `npm install better-sqlite3`, where it needs its prebuilt binary or a C++ compiler. ' +
        'Without it `MemoryStore` of @handraise/inbox runs, which keeps requests no longer than the process.',
      { cause },
    )
  }
}
