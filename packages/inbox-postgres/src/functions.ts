import { SOON } from './database-clock.ts'
import { REQUEST_COLUMNS } from './rows.ts'

/**
 * How long a command may wait for what somebody else has locked: the log is locked meanwhile, and no host writes. Hosts have
 * nothing locked from each other but the log, so it is a stranger's lock, and there is no telling how long that is held.
 */
export const SHORT_LOCK_TIMEOUT = "set_config('lock_timeout', '250', true)"

/** With the number of the command, counted from one: the detail of an error that one command of a batch ran into. */
export const FAILED_COMMAND = 'command '

/**
 * Carries out the commands of one host, in their order, each all or nothing by itself, in one round trip and one commit.
 *
 * Whoever writes holds the lock of the log from the first statement to the end of the commit. So positions become visible
 * in their order, and no command meets another half way; and as no round trip to a host lies between, a host that is
 * killed or cut off holds up nobody.
 *
 * What was sent again after its answer was lost gets what the first one came to: a request knows by which command it was
 * opened and settled, and for what leaves no such trace the last batch of each writer is kept, known by its number. Such a
 * batch that arrives after a later one of its writer is refused.
 */
export const APPLY_COMMANDS = `
CREATE FUNCTION apply_commands(p_writer uuid, p_batch bigint, p_kept boolean, p_commands jsonb)
RETURNS TABLE (
  status text, detail integer, id text, kind text, session text, key text, agent text,
  opened_at float8, deadline_at float8, settlement text, payload text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  command record;
  known record;
  last record;
  statuses text[] := '{}';
  details integer[] := '{}';
  places bigint[] := '{}';
  result text;
  number integer;
  place bigint;
  at bigint;
  again boolean := false;
  n integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(log_lock());
  PERFORM ${SHORT_LOCK_TIMEOUT};
  IF p_kept THEN
    SELECT b.batch, b.statuses, b.details, b.places INTO last
      FROM batches b WHERE b.writer = p_writer;
    IF last.batch > p_batch THEN
      RAISE EXCEPTION 'a later batch of this host was carried out' USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    again := coalesce(last.batch = p_batch, false);
  END IF;
  IF again THEN
    statuses := last.statuses;
    details := last.details;
    places := last.places;
  ELSE
    BEGIN
      FOR command IN SELECT * FROM jsonb_to_recordset(p_commands) AS c(
        op text, token uuid, id text, kind text, session text, key text, agent text, owner text, opened_at float8, deadline_at float8,
        digest text, payload text, settlement text, command_id text, settled_at float8, due_at float8, records jsonb,
        before float8, from_now float8, most integer
      ) LOOP
        n := n + 1;
        result := NULL;
        number := NULL;
        place := NULL;
        CASE command.op
        WHEN 'open' THEN
          IF command.key IS NOT NULL THEN
            SELECT r.position, CASE WHEN r.opened_by = command.token THEN 'opened'
              WHEN r.digest = command.digest THEN 'joined' ELSE 'keyConflict' END
              INTO place, result FROM requests r WHERE r.session = command.session AND r.key = command.key;
          END IF;
          IF result IS NULL THEN
            SELECT CASE WHEN r.opened_by = command.token THEN 'opened' ELSE 'idTaken' END
              INTO result FROM requests r WHERE r.id = command.id;
          END IF;
          IF result IS NULL THEN
            IF command.records IS NOT NULL THEN number := first_conflict(command.records); END IF;
            IF number IS NOT NULL THEN
              result := 'recordConflict';
            ELSE
              at := nextval('positions');
              INSERT INTO requests
                (position, id, kind, session, key, agent, owner, opened_at, deadline_at, digest, payload, opened_by,
                  pending_position)
                VALUES (at, command.id, command.kind, command.session, command.key, command.agent, command.owner,
                  command.opened_at, instant_of(command.deadline_at, command.from_now), command.digest, command.payload, command.token, at);
              INSERT INTO log (position, change, request) VALUES (at, 'opened', at);
              IF command.records IS NOT NULL THEN PERFORM write_records(command.records); END IF;
              result := 'opened';
            END IF;
          END IF;
        WHEN 'settle' THEN
          SELECT r.position, r.settled_position, r.deadline_at, r.command_id, r.command_digest, r.settled_by INTO known
            FROM requests r WHERE r.id = command.id;
          place := known.position;
          IF place IS NULL THEN
            result := 'unknown';
          ELSIF known.settled_position IS NOT NULL THEN
            result := CASE WHEN known.settled_by = command.token THEN 'settled'
              WHEN known.command_id <> command.command_id THEN 'alreadySettled'
              WHEN known.command_digest = command.digest THEN 'repeated' ELSE 'commandConflict' END;
          ELSIF command.due_at IS NOT NULL AND coalesce(known.deadline_at > least(command.due_at, ${SOON}), true) THEN
            result := 'notDue';
          ELSE
            IF command.records IS NOT NULL THEN number := first_conflict(command.records); END IF;
            IF number IS NOT NULL THEN
              place := NULL;
              result := 'recordConflict';
            ELSE
              at := nextval('positions');
              UPDATE requests r SET settled_position = at, settled_at = instant_of(command.settled_at, command.from_now),
                command_id = command.command_id, command_digest = command.digest, settlement = command.settlement,
                settled_by = command.token, pending_position = NULL
                WHERE r.position = place;
              INSERT INTO log (position, change, request) VALUES (at, 'settled', place);
              IF command.records IS NOT NULL THEN PERFORM write_records(command.records); END IF;
              result := 'settled';
            END IF;
          END IF;
        WHEN 'engage' THEN
          UPDATE requests r SET deadline_at = NULL
            WHERE r.id = command.id AND r.deadline_at IS NOT NULL AND coalesce(r.settled_position, 0) = 0
            RETURNING r.position INTO at;
          result := 'none';
          IF at IS NOT NULL THEN
            INSERT INTO log (position, change, request) VALUES (nextval('positions'), 'engaged', at);
            result := 'engaged';
          END IF;
        WHEN 'write' THEN
          number := first_conflict(command.records);
          result := 'recordConflict';
          IF number IS NULL THEN
            PERFORM write_records(command.records);
            result := 'written';
          END IF;
        WHEN 'prune' THEN
          number := prune_requests(instant_of(command.before, command.from_now), command.most);
          result := 'pruned';
        WHEN 'pruneLog' THEN
          number := prune_log(command.most);
          result := 'pruned';
        END CASE;
        statuses := statuses || result;
        details := details || number;
        places := places || place;
      END LOOP;
    EXCEPTION WHEN OTHERS OR query_canceled THEN
      RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM, DETAIL = '${FAILED_COMMAND}' || n;
    END;
    IF p_kept THEN
      INSERT INTO batches (writer, batch, at, statuses, details, places)
        VALUES (p_writer, p_batch, now(), statuses, details, places)
        ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, at = excluded.at, statuses = excluded.statuses,
          details = excluded.details, places = excluded.places;
    END IF;
  END IF;
  RETURN QUERY SELECT o.status, o.detail, ${REQUEST_COLUMNS}
    FROM unnest(statuses, details, places) WITH ORDINALITY AS o(status, detail, place, ordinal)
    LEFT JOIN requests r ON r.position = o.place ORDER BY o.ordinal;
END
$$;`

export const RECORD_FUNCTIONS = `
CREATE FUNCTION log_lock() RETURNS bigint LANGUAGE sql STABLE
  RETURN (1752328546::bigint << 32) | 'log'::regclass::oid::bigint;

-- Counted from one; null when all would hold.
CREATE FUNCTION first_conflict(p_records jsonb) RETURNS integer LANGUAGE sql AS $$
  SELECT w.n::integer
  FROM ROWS FROM (jsonb_to_recordset(p_records) AS (namespace text, key text, value text, expected bigint))
    WITH ORDINALITY AS w(namespace, key, value, expected, n)
  LEFT JOIN records r ON r.namespace = w.namespace AND r.key = w.key
  WHERE w.expected <> coalesce(r.version, 0)
  ORDER BY w.n LIMIT 1
$$;

CREATE FUNCTION write_records(p_records jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  w record;
BEGIN
  FOR w IN SELECT * FROM jsonb_to_recordset(p_records) AS c(namespace text, key text, value text) LOOP
    IF w.value IS NULL THEN
      INSERT INTO deleted_records AS d (namespace, key, version)
        SELECT r.namespace, r.key, r.version FROM records r WHERE r.namespace = w.namespace AND r.key = w.key
        ON CONFLICT (namespace, key) DO UPDATE SET version = excluded.version;
      DELETE FROM records r WHERE r.namespace = w.namespace AND r.key = w.key;
    ELSE
      INSERT INTO records AS r (namespace, key, value, version)
        VALUES (w.namespace, w.key, w.value, 1 + coalesce(
          (SELECT d.version FROM deleted_records d WHERE d.namespace = w.namespace AND d.key = w.key), 0))
        ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, version = r.version + 1;
    END IF;
  END LOOP;
END
$$;`

export const PRUNE_FUNCTIONS = `
CREATE FUNCTION prune_requests(p_before float8, p_most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  pruned integer;
  through bigint;
BEGIN
  WITH old AS (
    SELECT r.position FROM requests r WHERE r.settled_at < p_before AND r.settled_by IS NOT NULL ORDER BY r.settled_at LIMIT p_most
  ), gone AS (
    DELETE FROM requests r USING old WHERE r.position = old.position RETURNING r.settled_position
  ) SELECT count(*), max(g.settled_position) INTO pruned, through FROM gone g;
  IF pruned > 0 THEN UPDATE store SET pruned_through = greatest(pruned_through, through); END IF;
  DELETE FROM batches b USING (
    SELECT o.writer FROM batches o WHERE o.at < now() - interval '1 day' LIMIT p_most
  ) old WHERE b.writer = old.writer;
  RETURN pruned;
END
$$;

CREATE FUNCTION prune_log(p_most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  pruned integer;
BEGIN
  WITH old AS (
    SELECT l.position FROM log l WHERE l.position <= (SELECT pruned_through FROM store) ORDER BY l.position LIMIT p_most
  )
  DELETE FROM log l USING old WHERE l.position = old.position;
  GET DIAGNOSTICS pruned = ROW_COUNT;
  RETURN pruned;
END
$$;`
