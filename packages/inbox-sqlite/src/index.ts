export type { SqliteClient, SqliteDatabase, SqliteStatement, SqliteValue } from './client.ts'
export { openSqliteStore, type SqliteStoreOptions } from './open.ts'
