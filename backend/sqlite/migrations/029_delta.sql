-- What the commits of a thread have changed of its snapshots. Threads from before have none.
ALTER TABLE thread ADD COLUMN last_version INTEGER NOT NULL DEFAULT 0; -- of its deltas

CREATE TABLE delta (
    tenant    TEXT    NOT NULL,
    thread_id TEXT    NOT NULL,
    version   INTEGER NOT NULL, -- from 1 without gaps
    seq       INTEGER NOT NULL, -- the last one of the record after the commit
    at        INTEGER NOT NULL,
    body      TEXT    NOT NULL, -- JSON
    PRIMARY KEY (tenant, thread_id, version)
) STRICT, WITHOUT ROWID;

-- A step writes neither the tally nor its page: the tally has no tokens of running runs. Who reads it adds those.
UPDATE tally SET input_tokens = 0, cached_input_tokens = 0, output_tokens = 0, total_tokens = 0 WHERE state = 'RUNNING';

DROP TRIGGER tally_run_gone;

CREATE TRIGGER tally_run_gone AFTER DELETE ON run BEGIN
    INSERT INTO tally
        VALUES (OLD.tenant, OLD.state, -1,
            iif(OLD.depth = 0 AND OLD.state <> 'RUNNING', -OLD.input_tokens, 0),
            iif(OLD.depth = 0 AND OLD.state <> 'RUNNING', -OLD.cached_input_tokens, 0),
            iif(OLD.depth = 0 AND OLD.state <> 'RUNNING', -OLD.output_tokens, 0),
            iif(OLD.depth = 0 AND OLD.state <> 'RUNNING', -OLD.total_tokens, 0))
        ON CONFLICT (tenant, state) DO UPDATE SET
            n = n + excluded.n,
            input_tokens = input_tokens + excluded.input_tokens,
            cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = output_tokens + excluded.output_tokens,
            total_tokens = total_tokens + excluded.total_tokens;
END;
