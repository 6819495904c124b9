export type { PgClient, PgClientClass, PgConfig, PgNotification, PgQuery } from './client.ts'
export { PostgresStoreError, type PostgresStoreErrorCode } from './error.ts'
export { openPostgresStore, type PostgresStoreOptions } from './open.ts'
