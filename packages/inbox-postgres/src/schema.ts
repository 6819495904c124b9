import { INSTANT_FUNCTION } from './database-clock.ts'
import { APPLY_COMMANDS, PRUNE_FUNCTIONS, RECORD_FUNCTIONS } from './functions.ts'

/** In the one row of the table `store` of every schema of this package. */
export const APPLICATION = 'handraise inbox'

/**
 * What makes each version of the schema from the one before. A released one is never changed; a function that changes
 * gets another name, so that hosts of the version before go on while others are brought up to date.
 *
 * A request's `position` is that of its opening in the log. It is also its `pending_position` while it is pending, and then
 * gives way to all that tells of its settlement. Each index of a part of the requests has a condition of its own that
 * means the same as others, so that a statement can use only the one it is for: the planner knows too little of how many are
 * pending just now to choose. A deleted
 * record leaves its last version, so that none comes back. Texts are compared by their bytes, which no update of the
 * system's languages changes. Positions come from a sequence, of which a value that was taken back is not given again.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE requests (
    position bigint PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    kind text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    agent text COLLATE "C",
    owner text COLLATE "C",
    opened_at float8 NOT NULL,
    deadline_at float8,
    settled_at float8,
    settled_position bigint,
    digest text COLLATE "C" NOT NULL,
    command_id text COLLATE "C",
    command_digest text COLLATE "C",
    settlement text COLLATE "C",
    payload text COLLATE "C" NOT NULL,
    opened_by uuid NOT NULL,
    settled_by uuid,
    pending_position bigint,
    CHECK (num_nulls(settled_at, settled_position, command_id, command_digest, settlement, settled_by) IN (0, 6)),
    CHECK (coalesce(pending_position = position, false) = (settlement IS NULL))
  );
  CREATE UNIQUE INDEX requests_by_key ON requests (session, key) WHERE key IS NOT NULL;
  CREATE INDEX requests_pending ON requests (pending_position) WHERE settled_position IS NULL;
  CREATE INDEX requests_pending_of_session ON requests (session, pending_position) WHERE settlement IS NULL;
  CREATE INDEX requests_settled ON requests (settled_position) WHERE command_id IS NOT NULL;
  CREATE INDEX requests_settled_of_session ON requests (session, settled_position) WHERE settlement IS NOT NULL;
  CREATE INDEX requests_by_settled_at ON requests (settled_at) WHERE settled_by IS NOT NULL;
  CREATE INDEX requests_by_deadline ON requests (deadline_at, position)
    WHERE deadline_at IS NOT NULL AND settled_at IS NULL;
  CREATE INDEX requests_by_owner ON requests (owner, position) WHERE owner IS NOT NULL AND settled_by IS NULL;

  CREATE SEQUENCE positions AS bigint;
  CREATE TABLE log (
    position bigint PRIMARY KEY,
    change text COLLATE "C" NOT NULL CHECK (change IN ('opened', 'engaged', 'settled')),
    request bigint NOT NULL
  );

  CREATE TABLE records (
    namespace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (namespace, key)
  );
  CREATE TABLE deleted_records (
    namespace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (namespace, key)
  );

  CREATE TABLE batches (
    writer uuid PRIMARY KEY,
    batch bigint NOT NULL,
    at timestamptz NOT NULL,
    statuses text[] NOT NULL,
    details integer[] NOT NULL,
    places bigint[] NOT NULL
  );
  ${RECORD_FUNCTIONS}
  ${INSTANT_FUNCTION}
  ${PRUNE_FUNCTIONS}
  ${APPLY_COMMANDS}
  `,
]
