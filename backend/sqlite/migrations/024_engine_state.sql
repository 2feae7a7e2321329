-- What only the engine needs of a run, as one JSON object in engine_state: spool.RunState. '' for
-- nothing. It was in 15 columns, which no statement looks for. The table is made anew, as SQLite
-- would write all of it once for each column that is dropped.
CREATE TABLE run_anew (
    tenant              TEXT    NOT NULL,
    id                  TEXT    NOT NULL,
    thread_id           TEXT    NOT NULL,
    ord                 INTEGER NOT NULL, -- order of insertion in the thread, from 1
    created_at          INTEGER NOT NULL,
    parent_id           TEXT    NOT NULL,
    root_id             TEXT    NOT NULL,
    depth               INTEGER NOT NULL,
    agent               TEXT    NOT NULL,
    started_by          TEXT    NOT NULL,
    model               TEXT    NOT NULL,
    state               TEXT    NOT NULL,
    stop_reason         TEXT    NOT NULL,
    error               TEXT    NOT NULL,
    enqueued_at         INTEGER NOT NULL,
    started_at          INTEGER NOT NULL,
    ended_at            INTEGER NOT NULL,
    max_steps           INTEGER NOT NULL,
    steps               INTEGER NOT NULL,
    attempts            INTEGER NOT NULL,
    input_tokens        INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens       INTEGER NOT NULL,
    total_tokens        INTEGER NOT NULL,
    segments            INTEGER NOT NULL,
    place               INTEGER NOT NULL,
    nested              TEXT    NOT NULL, -- JSON
    cost_micros         INTEGER NOT NULL,
    currency            TEXT    NOT NULL,
    allowance           TEXT    NOT NULL, -- JSON
    start_key           TEXT    NOT NULL,
    nonce               TEXT    NOT NULL,
    scopes              TEXT    NOT NULL, -- JSON
    host_state          TEXT    NOT NULL, -- JSON, as it was given
    provider_options    TEXT    NOT NULL, -- JSON, as it was given
    client              TEXT    NOT NULL, -- JSON
    engine_state        TEXT    NOT NULL, -- JSON
    PRIMARY KEY (tenant, id)
) STRICT;

INSERT INTO run_anew
SELECT tenant, id, thread_id, ord, created_at, parent_id, root_id, depth, agent, started_by, model, state, stop_reason, error,
    enqueued_at, started_at, ended_at, max_steps, steps, attempts,
    input_tokens, cached_input_tokens, output_tokens, total_tokens,
    segments, place, nested, cost_micros, currency, allowance, start_key, nonce, scopes, host_state, provider_options, client,
    iif(fields = '', '', '{' || substr(fields, 2) || '}')
FROM (
    SELECT *,
        iif(wait = '', '', ',"wait":' || wait)
        || iif(children = 0, '', ',"children":' || children)
        || iif(saved_fence = 0 AND saved_n = 0, '', ',"saved":"' || saved_fence || '-' || saved_n || '"')
        || iif(draft = '', '', ',"draft":' || draft)
        || iif(context = '', '', ',"context":' || context)
        || iif(carried = 0, '', ',"wallTime":' || (carried * 1000))
        || iif(carried_since = 0, '', strftime(',"workerSince":"%Y-%m-%dT%H:%M:%S', carried_since / 1000000, 'unixepoch')
            || printf('.%06dZ"', carried_since % 1000000))
        || iif(deaths = 0, '', ',"deaths":' || deaths)
        || iif(alone = 0, '', ',"isolated":true')
        || iif(alone_deaths = 0, '', ',"isolatedDeaths":' || alone_deaths)
        || iif(stop_at = 0, '', strftime(',"stopAt":"%Y-%m-%dT%H:%M:%S', stop_at / 1000000, 'unixepoch')
            || printf('.%06dZ"', stop_at % 1000000))
        || iif(ending = '', '', ',"ending":' || ending)
        || iif(settle_claim = 0, '', strftime(',"settleClaim":"%Y-%m-%dT%H:%M:%S', settle_claim / 1000000, 'unixepoch')
            || printf('.%06dZ"', settle_claim % 1000000))
        || iif(settled_at = 0, '', strftime(',"settledAt":"%Y-%m-%dT%H:%M:%S', settled_at / 1000000, 'unixepoch')
            || printf('.%06dZ"', settled_at % 1000000)) AS fields
    FROM run
);

DROP TABLE run;

ALTER TABLE run_anew RENAME TO run;

CREATE UNIQUE INDEX run_thread ON run (tenant, thread_id, ord);

CREATE UNIQUE INDEX run_start_key ON run (tenant, start_key) WHERE start_key <> '';

-- At most one dispatched run of a thread is active.
CREATE UNIQUE INDEX run_active ON run (tenant, thread_id)
    WHERE depth = 0 AND place = 0 AND state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT');

CREATE INDEX run_waiting ON run (tenant, thread_id, place) WHERE place > 0;

CREATE INDEX run_nested ON run (tenant, thread_id, root_id, ord) WHERE root_id <> '';

CREATE INDEX run_created ON run (tenant, created_at, id);

CREATE INDEX run_state ON run (tenant, state, created_at, id);

CREATE TRIGGER tally_run_gone AFTER DELETE ON run BEGIN
    INSERT INTO tally
        VALUES (OLD.tenant, OLD.state, -1,
            iif(OLD.depth = 0, -OLD.input_tokens, 0), iif(OLD.depth = 0, -OLD.cached_input_tokens, 0),
            iif(OLD.depth = 0, -OLD.output_tokens, 0), iif(OLD.depth = 0, -OLD.total_tokens, 0))
        ON CONFLICT (tenant, state) DO UPDATE SET
            n = n + excluded.n,
            input_tokens = input_tokens + excluded.input_tokens,
            cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = output_tokens + excluded.output_tokens,
            total_tokens = total_tokens + excluded.total_tokens;
END;
