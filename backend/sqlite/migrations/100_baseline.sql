-- The tables of schema 100, the first one that later versions open. Schemas with lower numbers are refused.
--
-- Times are microseconds since 1970 in UTC, 0 for none. Text is '' where there is none. The tenant leads every key; the
-- one exception is job, whose id must never come back, and which is unique by tenant and key.

---------------------------------------------------------------------------------------------------------------
-- The file itself
---------------------------------------------------------------------------------------------------------------

PRAGMA application_id = 0x53706f6c; -- "Spol"

-- A version before this schema that was killed in its first moments has left an empty one.
DROP TABLE IF EXISTS schema_migration;

-- The steps of the schema that the file has had.
CREATE TABLE schema_migration (
    version    INTEGER PRIMARY KEY,
    applied_at INTEGER NOT NULL -- seconds since 1970
) STRICT;

-- What the file says of itself. in_use is 0 in a file that was closed, and counts the logs that were begun while a
-- process has the file for itself. wal_salt is the first salt of the log that began when it opened the file: the salts
-- of later logs count on from it.
CREATE TABLE database_file (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    id       TEXT    NOT NULL,
    in_use   INTEGER NOT NULL,
    wal_salt INTEGER NOT NULL
) STRICT;

INSERT INTO database_file VALUES (1, hex(randomblob(16)), 0, 0);

---------------------------------------------------------------------------------------------------------------
-- Threads and what belongs to them
---------------------------------------------------------------------------------------------------------------

CREATE TABLE thread (
    tenant            TEXT    NOT NULL,
    id                TEXT    NOT NULL,
    state             TEXT    NOT NULL,
    model             TEXT    NOT NULL,
    title             TEXT    NOT NULL,
    owner             TEXT    NOT NULL, -- the subject whose start made the thread
    labels            TEXT    NOT NULL, -- JSON
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    run_id            TEXT    NOT NULL,
    last_seq          INTEGER NOT NULL, -- of its entries
    last_version      INTEGER NOT NULL, -- of its deltas
    fence             INTEGER NOT NULL,
    lease_until       INTEGER NOT NULL,
    bytes             INTEGER NOT NULL, -- the size of the thread: see size.go
    bytes_summed      INTEGER NOT NULL, -- the part of it that the tenant's sum includes
    -- How many questions of its last run nobody answered in time, and when the time of the first was over.
    expired_questions INTEGER NOT NULL DEFAULT 0,
    expired_since     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

-- A list, and with the title what a search of titles reads: it needs no row of a thread without the text.
CREATE INDEX thread_updated ON thread (tenant, updated_at, id, title);

-- What the sweeper walks.
CREATE INDEX thread_active ON thread (lease_until)
    WHERE state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT');

-- What retention walks.
CREATE INDEX thread_idle ON thread (updated_at)
    WHERE state IN ('IDLE', 'COMPLETED', 'CANCELLED', 'FAILED');

CREATE INDEX thread_owner ON thread (tenant, owner, updated_at, id, title) WHERE owner <> '';

CREATE INDEX thread_expired ON thread (tenant, updated_at, id) WHERE expired_questions > 0;

CREATE TABLE run (
    tenant              TEXT    NOT NULL,
    id                  TEXT    NOT NULL,
    thread_id           TEXT    NOT NULL,
    ord                 INTEGER NOT NULL, -- the order of insertion in the thread, from 1
    created_at          INTEGER NOT NULL,
    parent_id           TEXT    NOT NULL,
    root_id             TEXT    NOT NULL, -- the dispatched run at the top, '' for one itself
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
    place               INTEGER NOT NULL, -- among the runs that wait for their thread, 0 for a run that does not wait
    nested              TEXT    NOT NULL, -- JSON, what only a nested run has
    cost_micros         INTEGER NOT NULL,
    currency            TEXT    NOT NULL,
    allowance           TEXT    NOT NULL, -- JSON
    start_key           TEXT    NOT NULL,
    nonce               TEXT    NOT NULL, -- private random text for the idempotency keys of the run's tool calls
    scopes              TEXT    NOT NULL, -- JSON
    host_state          TEXT    NOT NULL, -- JSON, as it was given
    provider_options    TEXT    NOT NULL, -- JSON, as it was given
    client              TEXT    NOT NULL, -- JSON
    engine_state        TEXT    NOT NULL, -- JSON: spool.RunState
    start_hash          TEXT    NOT NULL DEFAULT '', -- of the request with start_key
    -- The run's questions that nobody answered in time, as in thread.
    expired_questions   INTEGER NOT NULL DEFAULT 0,
    expired_since       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, id)
) STRICT;

CREATE UNIQUE INDEX run_thread ON run (tenant, thread_id, ord);

CREATE UNIQUE INDEX run_start_key ON run (tenant, start_key) WHERE start_key <> '';

-- At most one dispatched run of a thread is active. A run that waits for its thread is not.
CREATE UNIQUE INDEX run_active ON run (tenant, thread_id)
    WHERE depth = 0 AND place = 0 AND state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT');

CREATE INDEX run_waiting ON run (tenant, thread_id, place) WHERE place > 0;

CREATE INDEX run_nested ON run (tenant, thread_id, root_id, ord) WHERE root_id <> '';

CREATE INDEX run_created ON run (tenant, created_at, id);

CREATE INDEX run_state ON run (tenant, state, created_at, id);

CREATE INDEX run_expired ON run (tenant, created_at, id) WHERE expired_questions > 0;

-- Ids of messages are unique in the thread, so that a branch that comes back never has an id that is there.
CREATE TABLE message (
    tenant            TEXT    NOT NULL,
    thread_id         TEXT    NOT NULL,
    ord               INTEGER NOT NULL, -- the order in the thread, from 1
    id                TEXT    NOT NULL,
    agent_id          TEXT    NOT NULL,
    role              TEXT    NOT NULL,
    content           TEXT    NOT NULL, -- JSON, in its stored form
    created_at        INTEGER NOT NULL,
    client_message_id TEXT    NOT NULL,
    run_id            TEXT    NOT NULL,
    after_seq         INTEGER NOT NULL, -- never falls as ord rises
    dropped           INTEGER,          -- the branch that the message is in; NULL: the view
    PRIMARY KEY (tenant, thread_id, ord)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX message_id ON message (tenant, thread_id, id);

CREATE INDEX message_branch ON message (tenant, thread_id, dropped, ord) WHERE dropped IS NOT NULL;

-- The user turns of the main agent by their place in the record, those of branches included.
CREATE INDEX message_turn ON message (tenant, thread_id, after_seq, ord) WHERE role = 'user' AND agent_id = '';

-- A run that begins behind a summary reads from there on. Only summaries are messages of the system.
CREATE INDEX message_summary ON message (tenant, thread_id, ord) WHERE role = 'system' AND dropped IS NULL;

CREATE TABLE branch (
    tenant     TEXT    NOT NULL,
    thread_id  TEXT    NOT NULL,
    id         INTEGER NOT NULL, -- what its messages have in dropped
    base       TEXT    NOT NULL, -- the message before the branch, '' for the beginning of the thread
    run_id     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE entry (
    tenant            TEXT    NOT NULL,
    thread_id         TEXT    NOT NULL,
    seq               INTEGER NOT NULL,
    type              TEXT    NOT NULL,
    run_id            TEXT    NOT NULL,
    payload           TEXT    NOT NULL, -- JSON
    created_at        INTEGER NOT NULL,
    stream            TEXT    NOT NULL,
    after_fence       INTEGER NOT NULL,
    after_n           INTEGER NOT NULL,
    published_by      TEXT    NOT NULL, -- the subject or the tool that published an event of an application; '' for
    published_by_tool TEXT    NOT NULL, -- an entry of the engine, and for an event of the program itself
    published         INTEGER NOT NULL DEFAULT 0, -- 1 for an event of an application
    PRIMARY KEY (tenant, thread_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX entry_type ON entry (tenant, thread_id, type, seq);

CREATE INDEX entry_run ON entry (tenant, thread_id, run_id, seq);

CREATE TABLE park (
    tenant            TEXT    NOT NULL,
    thread_id         TEXT    NOT NULL,
    run_id            TEXT    NOT NULL,
    tool_call_id      TEXT    NOT NULL,
    ord               INTEGER NOT NULL, -- the order of creation in the run, from 1
    tool_name         TEXT    NOT NULL,
    agent_id          TEXT    NOT NULL, -- the nested run that asks
    frames            TEXT    NOT NULL, -- JSON, the calls above that wait with it
    step              INTEGER NOT NULL,
    args              TEXT    NOT NULL, -- JSON
    shown             TEXT    NOT NULL, -- JSON
    reason            TEXT    NOT NULL,
    occurrence        INTEGER NOT NULL, -- the number of the call's question, from the second one on
    digest            TEXT    NOT NULL, -- a hash of what the park asks
    state             TEXT    NOT NULL,
    answer            TEXT    NOT NULL, -- JSON
    before            TEXT    NOT NULL, -- JSON
    landed            INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    expires_at        INTEGER NOT NULL,
    expiry            TEXT    NOT NULL, -- JSON, what becomes of the park when nobody answers
    warned            INTEGER NOT NULL,
    distinct_approver INTEGER NOT NULL,
    revision          TEXT    NOT NULL, -- of the agent that asks
    PRIMARY KEY (tenant, thread_id, run_id, tool_call_id)
) STRICT, WITHOUT ROWID;

-- The open parks of a tenant, so that a list of them does not read closed ones. A park is open to answers once it has
-- a time of expiry.
CREATE INDEX park_age ON park (tenant, created_at, run_id, tool_call_id, thread_id) WHERE state = 'open' AND expires_at > 0;

CREATE INDEX park_expiry ON park (tenant, expires_at, run_id, tool_call_id, thread_id) WHERE state = 'open' AND expires_at > 0;

-- Those that nobody answered in time, of runs that go on or are over.
CREATE INDEX park_expired ON park (tenant, expires_at, run_id, tool_call_id, thread_id) WHERE state = 'expired';

CREATE TABLE effect (
    tenant       TEXT    NOT NULL,
    thread_id    TEXT    NOT NULL,
    run_id       TEXT    NOT NULL,
    step         INTEGER NOT NULL,
    tool_call_id TEXT    NOT NULL,
    ord          INTEGER NOT NULL, -- the order of the first put in the step, from 1
    state        TEXT    NOT NULL,
    result       TEXT    NOT NULL, -- JSON
    -- Nothing writes these yet: when the call of the tool began and ended.
    started_at   INTEGER NOT NULL DEFAULT 0,
    ended_at     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, thread_id, run_id, step, tool_call_id)
) STRICT, WITHOUT ROWID;

-- The ledger: one row for each model attempt. A count is NULL if it was not reported, and cost is NULL if no price is
-- known.
CREATE TABLE usage (
    tenant        TEXT    NOT NULL,
    thread_id     TEXT    NOT NULL,
    ord           INTEGER NOT NULL,
    run_id        TEXT    NOT NULL,
    agent_id      TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    kind          TEXT    NOT NULL,
    step          INTEGER NOT NULL,
    model         TEXT    NOT NULL,
    model_id      TEXT    NOT NULL, -- the provider's name of the model that answered
    requested     TEXT    NOT NULL, -- the provider's name of the model that was asked
    outcome       TEXT    NOT NULL,
    input         INTEGER,
    cache_read    INTEGER,
    cache_write   INTEGER,
    output        INTEGER,
    reasoning     INTEGER,
    guess_input   INTEGER,          -- the guesses are those for counts that were not reported
    guess_output  INTEGER,
    cost          INTEGER,          -- millionths of the currency
    currency      TEXT    NOT NULL,
    cost_source   TEXT    NOT NULL,
    price_version TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    -- Nothing writes these yet: when the attempt began, and the class of the error with which it failed.
    started_at    INTEGER NOT NULL DEFAULT 0,
    error_class   TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, thread_id, ord)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_run ON usage (tenant, thread_id, run_id, ord);

-- The sums of the ledger, so that reading them does not cost more with every step.
CREATE TABLE usage_line (
    tenant       TEXT    NOT NULL,
    thread_id    TEXT    NOT NULL,
    agent_id     TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    model        TEXT    NOT NULL,
    model_id     TEXT    NOT NULL,
    currency     TEXT    NOT NULL, -- '' for the calls without a price
    ord          INTEGER NOT NULL, -- of the first row in the ledger
    input        INTEGER NOT NULL,
    cache_read   INTEGER NOT NULL,
    cache_write  INTEGER NOT NULL,
    output       INTEGER NOT NULL,
    reasoning    INTEGER NOT NULL,
    calls        INTEGER NOT NULL,
    estimated    INTEGER NOT NULL, -- the calls with a guess
    guess_input  INTEGER NOT NULL,
    guess_output INTEGER NOT NULL,
    cost         INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, agent_id, agent, model, model_id, currency)
) STRICT, WITHOUT ROWID;

-- What the commits of a thread have changed of its snapshots.
CREATE TABLE delta (
    tenant    TEXT    NOT NULL,
    thread_id TEXT    NOT NULL,
    version   INTEGER NOT NULL, -- from 1 without gaps
    seq       INTEGER NOT NULL, -- the last one of the record after the commit
    at        INTEGER NOT NULL,
    body      TEXT    NOT NULL, -- JSON
    PRIMARY KEY (tenant, thread_id, version)
) STRICT, WITHOUT ROWID;

---------------------------------------------------------------------------------------------------------------
-- What belongs to a tenant
---------------------------------------------------------------------------------------------------------------

-- The sums of a tenant: of its runs by state, of its threads under the state '', and of their sizes under 'bytes'. The
-- tokens of a nested run are in those of its dispatched run. Those of running runs are left out, so that a step does
-- not write here: who reads the sums adds them. The writer counts what a transaction makes and changes: see tally.go.
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

-- What is deleted is counted here, also where the tally has no row of it yet.
CREATE TRIGGER tally_thread_gone AFTER DELETE ON thread BEGIN
    INSERT INTO tally VALUES (OLD.tenant, '', -1, 0, 0, 0, 0)
        ON CONFLICT (tenant, state) DO UPDATE SET n = n - 1;
END;

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

-- Who did what. A row is never changed, and stays when its thread is deleted: only its age removes it. The empty
-- tenant has the entries that belong to no tenant.
CREATE TABLE audit (
    tenant       TEXT    NOT NULL,
    seq          INTEGER NOT NULL, -- of the tenant, from 1
    at           INTEGER NOT NULL,
    action       TEXT    NOT NULL,
    actor        TEXT    NOT NULL,
    actor_tenant TEXT    NOT NULL,
    thread_id    TEXT    NOT NULL,
    run_id       TEXT    NOT NULL,
    call_id      TEXT    NOT NULL,
    job_id       INTEGER NOT NULL,
    approved     INTEGER,          -- NULL: the action is no answer
    digest       TEXT    NOT NULL,
    reason       TEXT    NOT NULL,
    count        INTEGER NOT NULL,
    address      TEXT    NOT NULL,
    detail       TEXT    NOT NULL, -- JSON
    PRIMARY KEY (tenant, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_thread ON audit (tenant, thread_id, seq);

CREATE INDEX audit_at ON audit (at);

CREATE TRIGGER audit_is_kept BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

-- The last number of each tenant, which is not used again after its row was removed.
CREATE TABLE audit_last (
    tenant TEXT    NOT NULL PRIMARY KEY,
    seq    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Values outside a thread: spool.Row. The empty tenant has those of the installation.
CREATE TABLE keyed_value (
    tenant     TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    value      TEXT    NOT NULL, -- JSON
    version    INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL, -- 0: never
    PRIMARY KEY (tenant, kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX keyed_value_expires ON keyed_value (expires_at) WHERE expires_at > 0;

---------------------------------------------------------------------------------------------------------------
-- Jobs
---------------------------------------------------------------------------------------------------------------

CREATE TABLE job (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant    TEXT    NOT NULL,
    thread_id TEXT    NOT NULL,
    run_id    TEXT    NOT NULL, -- '' for an event of the outbox
    key       TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    segment   INTEGER NOT NULL,
    subject   TEXT    NOT NULL DEFAULT '', -- who started the run, '' for nobody known
    queue     TEXT    NOT NULL, -- '' for the default one
    lane      TEXT    NOT NULL, -- by which a worker selects jobs within a queue: see lane.go
    payload   TEXT    NOT NULL, -- JSON, of an event
    first_due INTEGER NOT NULL,
    due_at    INTEGER NOT NULL, -- when it may be claimed: for a claimed job, when the lease lapses
    claimed   INTEGER NOT NULL,
    token     INTEGER NOT NULL, -- of the last claim; a release raises it, too
    attempts  INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX job_key ON job (tenant, key) WHERE key <> '';

CREATE INDEX job_run ON job (tenant, thread_id, run_id);

CREATE INDEX job_first_due ON job (tenant, first_due, id);

-- What a claim reads: those in flight, the jobs of a lane in due order, and the jobs that each tenant and each of its
-- subjects has in it.
CREATE INDEX job_claimed ON job (tenant, subject, due_at) WHERE claimed = 1;

CREATE INDEX job_due ON job (queue, lane, due_at, id);

CREATE INDEX job_tenant_due ON job (queue, lane, tenant, due_at, id);

CREATE INDEX job_subject_due ON job (queue, lane, tenant, subject, due_at, id);

CREATE TABLE job_dead (
    tenant    TEXT    NOT NULL,
    ord       INTEGER NOT NULL, -- the order of death in the tenant, from 1
    id        INTEGER NOT NULL,
    thread_id TEXT    NOT NULL,
    run_id    TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    model     TEXT    NOT NULL,
    segment   INTEGER NOT NULL,
    subject   TEXT    NOT NULL DEFAULT '', -- who started the run, '' for nobody known
    queue     TEXT    NOT NULL,
    payload   TEXT    NOT NULL, -- JSON
    due_at    INTEGER NOT NULL, -- when it was due for the first time
    attempts  INTEGER NOT NULL,
    cause     TEXT    NOT NULL,
    died_at   INTEGER NOT NULL,
    PRIMARY KEY (tenant, ord)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_dead_thread ON job_dead (tenant, thread_id);

CREATE INDEX job_dead_died ON job_dead (tenant, died_at, id);

CREATE UNIQUE INDEX job_dead_id ON job_dead (tenant, id);
