-- The tables of schema 1. Times are microseconds since 1970 in UTC, 0 for none. Text is
-- '' where there is none. The tenant leads every key; the one exception is job, whose id
-- is a ticket number that must never come back, and which is unique by tenant and key.

CREATE TABLE thread (
    tenant      TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    model       TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    run_id      TEXT    NOT NULL,
    last_seq    INTEGER NOT NULL,
    fence       INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX thread_updated ON thread (tenant, updated_at, id);

-- What the sweeper walks.
CREATE INDEX thread_active ON thread (lease_until)
    WHERE state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT');

CREATE TABLE run (
    tenant              TEXT    NOT NULL,
    id                  TEXT    NOT NULL,
    thread_id           TEXT    NOT NULL,
    ord                 INTEGER NOT NULL, -- order of insertion in the thread, from 1
    parent_id           TEXT    NOT NULL,
    depth               INTEGER NOT NULL,
    agent               TEXT    NOT NULL,
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
    deaths              INTEGER NOT NULL,
    saved_fence         INTEGER NOT NULL,
    saved_n             INTEGER NOT NULL,
    stop_at             INTEGER NOT NULL,
    draft               TEXT    NOT NULL, -- JSON
    start_key           TEXT    NOT NULL,
    settled_at          INTEGER NOT NULL,
    settle_claim        INTEGER NOT NULL,
    ending              TEXT    NOT NULL, -- JSON
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE UNIQUE INDEX run_thread ON run (tenant, thread_id, ord);

CREATE UNIQUE INDEX run_start_key ON run (tenant, start_key) WHERE start_key <> '';

-- At most one dispatched run of a thread is active.
CREATE UNIQUE INDEX run_active ON run (tenant, thread_id)
    WHERE depth = 0 AND state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT');

CREATE TABLE message (
    tenant            TEXT    NOT NULL,
    thread_id         TEXT    NOT NULL,
    ord               INTEGER NOT NULL, -- order in the thread, from 1
    id                TEXT    NOT NULL,
    agent_id          TEXT    NOT NULL,
    role              TEXT    NOT NULL,
    content           TEXT    NOT NULL, -- JSON, in its wire form
    created_at        INTEGER NOT NULL,
    client_message_id TEXT    NOT NULL,
    run_id            TEXT    NOT NULL,
    after_seq         INTEGER NOT NULL, -- never falls as ord rises
    dropped           INTEGER,          -- the seq of the edit that took it out of view
    PRIMARY KEY (tenant, thread_id, ord)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX message_id ON message (tenant, thread_id, id) WHERE dropped IS NULL;

CREATE TABLE entry (
    tenant      TEXT    NOT NULL,
    thread_id   TEXT    NOT NULL,
    seq         INTEGER NOT NULL,
    type        TEXT    NOT NULL,
    run_id      TEXT    NOT NULL,
    payload     TEXT    NOT NULL, -- JSON
    created_at  INTEGER NOT NULL,
    stream      TEXT    NOT NULL,
    after_fence INTEGER NOT NULL,
    after_n     INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX entry_type ON entry (tenant, thread_id, type, seq);

CREATE INDEX entry_run ON entry (tenant, thread_id, run_id, seq);

CREATE TABLE park (
    tenant       TEXT    NOT NULL,
    thread_id    TEXT    NOT NULL,
    run_id       TEXT    NOT NULL,
    tool_call_id TEXT    NOT NULL,
    ord          INTEGER NOT NULL, -- order of creation in the run, from 1
    tool_name    TEXT    NOT NULL,
    step         INTEGER NOT NULL,
    args         TEXT    NOT NULL, -- JSON
    shown        TEXT    NOT NULL, -- JSON
    reason       TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    answer       TEXT    NOT NULL, -- JSON
    before       TEXT    NOT NULL, -- JSON
    landed       INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, run_id, tool_call_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE effect (
    tenant       TEXT    NOT NULL,
    thread_id    TEXT    NOT NULL,
    run_id       TEXT    NOT NULL,
    step         INTEGER NOT NULL,
    tool_call_id TEXT    NOT NULL,
    ord          INTEGER NOT NULL, -- order of the first put in the step, from 1
    state        TEXT    NOT NULL,
    result       TEXT    NOT NULL, -- JSON
    PRIMARY KEY (tenant, thread_id, run_id, step, tool_call_id)
) STRICT, WITHOUT ROWID;

-- The ledger: one row per model attempt. A count is NULL where none was reported.
CREATE TABLE usage (
    tenant      TEXT    NOT NULL,
    thread_id   TEXT    NOT NULL,
    ord         INTEGER NOT NULL,
    run_id      TEXT    NOT NULL,
    agent_id    TEXT    NOT NULL,
    agent       TEXT    NOT NULL,
    step        INTEGER NOT NULL,
    model       TEXT    NOT NULL,
    model_id    TEXT    NOT NULL,
    outcome     TEXT    NOT NULL,
    input       INTEGER,
    cache_read  INTEGER,
    cache_write INTEGER,
    output      INTEGER,
    reasoning   INTEGER,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, ord)
) STRICT, WITHOUT ROWID;

-- The ledger's sums, kept with it, so that reading them does not cost more with every step.
CREATE TABLE usage_line (
    tenant      TEXT    NOT NULL,
    thread_id   TEXT    NOT NULL,
    agent_id    TEXT    NOT NULL,
    agent       TEXT    NOT NULL,
    model       TEXT    NOT NULL,
    model_id    TEXT    NOT NULL,
    ord         INTEGER NOT NULL, -- of the first row in the ledger
    input       INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    reasoning   INTEGER NOT NULL,
    calls       INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, agent_id, agent, model, model_id)
) STRICT, WITHOUT ROWID;

-- due_at is when the job may be claimed, and while it is claimed when the lease lapses.
CREATE TABLE job (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant    TEXT    NOT NULL,
    thread_id TEXT    NOT NULL,
    run_id    TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    segment   INTEGER NOT NULL,
    due_at    INTEGER NOT NULL,
    claimed   INTEGER NOT NULL,
    token     INTEGER NOT NULL,
    attempts  INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX job_key ON job (tenant, key) WHERE key <> '';

CREATE INDEX job_due ON job (due_at, id);

CREATE INDEX job_run ON job (tenant, thread_id, run_id);

CREATE TABLE job_dead (
    tenant    TEXT    NOT NULL,
    ord       INTEGER NOT NULL, -- order of death in the tenant, from 1
    id        INTEGER NOT NULL,
    thread_id TEXT    NOT NULL,
    run_id    TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    segment   INTEGER NOT NULL,
    due_at    INTEGER NOT NULL,
    attempts  INTEGER NOT NULL,
    cause     TEXT    NOT NULL,
    died_at   INTEGER NOT NULL,
    PRIMARY KEY (tenant, ord)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_dead_thread ON job_dead (tenant, thread_id);
