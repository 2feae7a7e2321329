-- What operators ask for: lists of runs, jobs and dead jobs, sums, and threads in which
-- nothing happens, none of which may cost more with all that a file has.

-- When the run was made. Those before are known by when they were enqueued.
ALTER TABLE run ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;

UPDATE run SET created_at = CASE WHEN enqueued_at > 0 THEN enqueued_at ELSE started_at END;

CREATE INDEX run_created ON run (tenant, created_at, id);

CREATE INDEX run_state ON run (tenant, state, created_at, id);

CREATE INDEX thread_idle ON thread (updated_at) WHERE state IN ('IDLE', 'COMPLETED', 'CANCELLED', 'FAILED');

-- When the job was due for the first time.
ALTER TABLE job ADD COLUMN first_due INTEGER NOT NULL DEFAULT 0;

UPDATE job SET first_due = due_at;

CREATE INDEX job_first_due ON job (tenant, first_due, id);

CREATE INDEX job_dead_died ON job_dead (tenant, died_at, id);

CREATE UNIQUE INDEX job_dead_id ON job_dead (tenant, id);

-- The sums of a tenant, kept with what they count: of its runs by state, and of its threads
-- under the state ''. What a nested run has used, its dispatched run has counted already.
CREATE TABLE tally (
    tenant              TEXT    NOT NULL,
    state               TEXT    NOT NULL,
    n                   INTEGER NOT NULL,
    input_tokens        INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens       INTEGER NOT NULL,
    total_tokens        INTEGER NOT NULL,
    PRIMARY KEY (tenant, state)
) STRICT, WITHOUT ROWID;

INSERT INTO tally SELECT tenant, '', count(*), 0, 0, 0, 0 FROM thread GROUP BY tenant;

INSERT INTO tally
    SELECT tenant, state, count(*), sum(iif(depth = 0, input_tokens, 0)), sum(iif(depth = 0, cached_input_tokens, 0)),
        sum(iif(depth = 0, output_tokens, 0)), sum(iif(depth = 0, total_tokens, 0))
    FROM run GROUP BY tenant, state;

CREATE TRIGGER tally_thread_made AFTER INSERT ON thread BEGIN
    INSERT INTO tally VALUES (NEW.tenant, '', 1, 0, 0, 0, 0)
        ON CONFLICT (tenant, state) DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER tally_thread_gone AFTER DELETE ON thread BEGIN
    UPDATE tally SET n = n - 1 WHERE tenant = OLD.tenant AND state = '';
END;

CREATE TRIGGER tally_run_made AFTER INSERT ON run BEGIN
    INSERT INTO tally
        VALUES (NEW.tenant, NEW.state, 1,
            iif(NEW.depth = 0, NEW.input_tokens, 0), iif(NEW.depth = 0, NEW.cached_input_tokens, 0),
            iif(NEW.depth = 0, NEW.output_tokens, 0), iif(NEW.depth = 0, NEW.total_tokens, 0))
        ON CONFLICT (tenant, state) DO UPDATE SET
            n = n + 1,
            input_tokens = input_tokens + excluded.input_tokens,
            cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = output_tokens + excluded.output_tokens,
            total_tokens = total_tokens + excluded.total_tokens;
END;

CREATE TRIGGER tally_run_changed
    AFTER UPDATE OF state, input_tokens, cached_input_tokens, output_tokens, total_tokens ON run
    WHEN OLD.state <> NEW.state OR OLD.input_tokens <> NEW.input_tokens
        OR OLD.cached_input_tokens <> NEW.cached_input_tokens
        OR OLD.output_tokens <> NEW.output_tokens OR OLD.total_tokens <> NEW.total_tokens
BEGIN
    UPDATE tally SET
        n = n - 1,
        input_tokens = input_tokens - iif(OLD.depth = 0, OLD.input_tokens, 0),
        cached_input_tokens = cached_input_tokens - iif(OLD.depth = 0, OLD.cached_input_tokens, 0),
        output_tokens = output_tokens - iif(OLD.depth = 0, OLD.output_tokens, 0),
        total_tokens = total_tokens - iif(OLD.depth = 0, OLD.total_tokens, 0)
        WHERE tenant = OLD.tenant AND state = OLD.state;
    INSERT INTO tally
        VALUES (NEW.tenant, NEW.state, 1,
            iif(NEW.depth = 0, NEW.input_tokens, 0), iif(NEW.depth = 0, NEW.cached_input_tokens, 0),
            iif(NEW.depth = 0, NEW.output_tokens, 0), iif(NEW.depth = 0, NEW.total_tokens, 0))
        ON CONFLICT (tenant, state) DO UPDATE SET
            n = n + 1,
            input_tokens = input_tokens + excluded.input_tokens,
            cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = output_tokens + excluded.output_tokens,
            total_tokens = total_tokens + excluded.total_tokens;
END;

CREATE TRIGGER tally_run_gone AFTER DELETE ON run BEGIN
    UPDATE tally SET
        n = n - 1,
        input_tokens = input_tokens - iif(OLD.depth = 0, OLD.input_tokens, 0),
        cached_input_tokens = cached_input_tokens - iif(OLD.depth = 0, OLD.cached_input_tokens, 0),
        output_tokens = output_tokens - iif(OLD.depth = 0, OLD.output_tokens, 0),
        total_tokens = total_tokens - iif(OLD.depth = 0, OLD.total_tokens, 0)
        WHERE tenant = OLD.tenant AND state = OLD.state;
END;
