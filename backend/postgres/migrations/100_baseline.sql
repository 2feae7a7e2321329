-- oldest: 100
--
-- The tables of schema 100, the first one that later versions open. Schemas with lower numbers are refused.
--
-- Times are microseconds since 1970 in UTC, 0 for none. Text is '' where there is none. JSON is kept as text, so that a
-- reader gets the bytes that were written. The tenant leads every key. Texts that keys and lists compare have the
-- collation "C", so that their order is that of their bytes.
--
-- "spool." stands for the schema that the tables are in.

-- The steps of the schema that the database has had. oldest is the highest step that a program must know to use the
-- tables after this one.
CREATE TABLE spool.schema_step (
    version    integer     PRIMARY KEY,
    oldest     integer     NOT NULL,
    name       text        NOT NULL,
    applied_at timestamptz NOT NULL
);

---------------------------------------------------------------------------------------------------------------
-- Threads and what belongs to them
---------------------------------------------------------------------------------------------------------------

-- A step changes last_seq, lease_until and the sizes of its thread, and none of these columns is in an index. So
-- PostgreSQL can put the new version of the row on the same page and leave the indexes alone (HOT).
CREATE TABLE spool.thread (
    tenant            text   COLLATE "C" NOT NULL,
    id                text   COLLATE "C" NOT NULL,
    state             text   NOT NULL,
    model             text   NOT NULL,
    title             text   COLLATE "C" NOT NULL, -- its lower() then changes ASCII letters only
    owner             text   NOT NULL, -- the subject whose start made the thread
    labels            jsonb  NOT NULL,
    created_at        bigint NOT NULL,
    updated_at        bigint NOT NULL,
    run_id            text   COLLATE "C" NOT NULL,
    last_seq          bigint NOT NULL, -- of its entries
    fence             bigint NOT NULL,
    lease_until       bigint NOT NULL,
    bytes             bigint NOT NULL, -- the size of the thread: see size.go
    bytes_summed      bigint NOT NULL, -- the part of it that the tenant's sum includes
    last_version      bigint NOT NULL, -- of its deltas
    -- How many questions of its last run nobody answered in time, and when the time of the first was over.
    expired_questions bigint NOT NULL DEFAULT 0,
    expired_since     bigint NOT NULL DEFAULT 0,
    CONSTRAINT thread_pkey PRIMARY KEY (tenant, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- A list, and with the title what a search of titles reads: it needs no row of a thread without the text.
CREATE INDEX thread_updated ON spool.thread (tenant, updated_at, id) INCLUDE (title);

CREATE INDEX thread_owner ON spool.thread (tenant, owner, updated_at, id) INCLUDE (title) WHERE owner <> '';

CREATE INDEX thread_expired ON spool.thread (tenant, updated_at, id) WHERE expired_questions > 0;

-- What the sweeper walks.
CREATE INDEX thread_active ON spool.thread (updated_at)
    WHERE state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT');

-- What retention walks.
CREATE INDEX thread_idle ON spool.thread (updated_at)
    WHERE state IN ('IDLE', 'COMPLETED', 'CANCELLED', 'FAILED');

-- The unique indexes are in the order in which PostgreSQL checks them: a reused id is reported before a second
-- active run, and that before a reused start key.
CREATE TABLE spool.run (
    tenant              text    COLLATE "C" NOT NULL,
    id                  text    COLLATE "C" NOT NULL,
    thread_id           text    COLLATE "C" NOT NULL,
    ord                 bigint  NOT NULL, -- the order of insertion in the thread, from 1
    created_at          bigint  NOT NULL,
    parent_id           text    NOT NULL,
    root_id             text    COLLATE "C" NOT NULL, -- the dispatched run at the top, '' for one itself
    depth               bigint  NOT NULL,
    agent               text    NOT NULL,
    started_by          text    NOT NULL,
    model               text    NOT NULL,
    state               text    NOT NULL,
    stop_reason         text    NOT NULL,
    error               text    NOT NULL,
    enqueued_at         bigint  NOT NULL,
    started_at          bigint  NOT NULL,
    ended_at            bigint  NOT NULL,
    max_steps           bigint  NOT NULL,
    steps               bigint  NOT NULL,
    attempts            bigint  NOT NULL,
    input_tokens        bigint  NOT NULL,
    cached_input_tokens bigint  NOT NULL,
    output_tokens       bigint  NOT NULL,
    total_tokens        bigint  NOT NULL,
    segments            bigint  NOT NULL,
    place               bigint  NOT NULL, -- among the runs that wait for their thread, 0 for a run that does not wait
    nested              text    NOT NULL, -- JSON, what only a nested run has
    cost_micros         bigint  NOT NULL,
    currency            text    NOT NULL,
    allowance           text    NOT NULL, -- JSON
    start_key           text    COLLATE "C" NOT NULL,
    nonce               text    NOT NULL, -- private random text for the idempotency keys of the run's tool calls
    scopes              text    NOT NULL, -- JSON
    host_state          text    NOT NULL, -- JSON, as it was given
    provider_options    text    NOT NULL, -- JSON, as it was given
    client              text    NOT NULL, -- JSON
    engine_state        text    NOT NULL, -- JSON: spool.RunState
    start_hash          text    NOT NULL DEFAULT '', -- of the request with start_key
    -- The run's questions that nobody answered in time, as in thread.
    expired_questions   bigint  NOT NULL DEFAULT 0,
    expired_since       bigint  NOT NULL DEFAULT 0,
    CONSTRAINT run_pkey PRIMARY KEY (tenant, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- At most one dispatched run of a thread is active. A run that waits for its thread is not.
CREATE UNIQUE INDEX run_active ON spool.run (tenant, thread_id)
    WHERE depth = 0 AND place = 0 AND state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT');

CREATE UNIQUE INDEX run_start_key ON spool.run (tenant, start_key) WHERE start_key <> '';

CREATE UNIQUE INDEX run_thread ON spool.run (tenant, thread_id, ord);

CREATE INDEX run_waiting ON spool.run (tenant, thread_id, place) WHERE place > 0;

CREATE INDEX run_nested ON spool.run (tenant, thread_id, root_id, ord) WHERE root_id <> '';

CREATE INDEX run_created ON spool.run (tenant, created_at, id);

CREATE INDEX run_state ON spool.run (tenant, state, created_at, id);

CREATE INDEX run_expired ON spool.run (tenant, created_at, id) WHERE expired_questions > 0;

-- Ids of messages are unique in the thread, so that a branch that comes back never has an id that is there.
CREATE TABLE spool.message (
    tenant            text   COLLATE "C" NOT NULL,
    thread_id         text   COLLATE "C" NOT NULL,
    ord               bigint NOT NULL, -- the order in the thread, from 1
    id                text   COLLATE "C" NOT NULL,
    agent_id          text   COLLATE "C" NOT NULL,
    role              text   NOT NULL,
    content           text   NOT NULL, -- JSON, in its stored form
    created_at        bigint NOT NULL,
    client_message_id text   NOT NULL,
    run_id            text   COLLATE "C" NOT NULL,
    after_seq         bigint NOT NULL, -- never falls as ord rises
    dropped           bigint,          -- the branch that the message is in; NULL: the view
    CONSTRAINT message_pkey PRIMARY KEY (tenant, thread_id, ord)
);

CREATE UNIQUE INDEX message_id ON spool.message (tenant, thread_id, id);

CREATE INDEX message_branch ON spool.message (tenant, thread_id, dropped, ord) WHERE dropped IS NOT NULL;

-- The user turns of the main agent by their place in the record, those of branches included.
CREATE INDEX message_turn ON spool.message (tenant, thread_id, after_seq, ord) WHERE role = 'user' AND agent_id = '';

-- A run that begins behind a summary reads from there on. Only summaries are messages of the system.
CREATE INDEX message_summary ON spool.message (tenant, thread_id, ord) WHERE role = 'system' AND dropped IS NULL;

CREATE TABLE spool.branch (
    tenant     text   COLLATE "C" NOT NULL,
    thread_id  text   COLLATE "C" NOT NULL,
    id         bigint NOT NULL,             -- what its messages have in dropped
    base       text   COLLATE "C" NOT NULL, -- the message before the branch, '' for the beginning of the thread
    run_id     text   COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT branch_pkey PRIMARY KEY (tenant, thread_id, id)
);

CREATE TABLE spool.entry (
    tenant            text   COLLATE "C" NOT NULL,
    thread_id         text   COLLATE "C" NOT NULL,
    seq               bigint NOT NULL,
    type              text   COLLATE "C" NOT NULL,
    run_id            text   COLLATE "C" NOT NULL,
    payload           text   NOT NULL, -- JSON
    created_at        bigint NOT NULL,
    stream            text   NOT NULL,
    after_fence       bigint NOT NULL,
    after_n           bigint NOT NULL,
    published_by      text   NOT NULL, -- the subject or the tool that published an event of an application; '' for
    published_by_tool text   NOT NULL, -- an entry of the engine, and for an event of the program itself
    published         boolean NOT NULL DEFAULT false, -- whether it is an event of an application
    CONSTRAINT entry_pkey PRIMARY KEY (tenant, thread_id, seq)
);

CREATE INDEX entry_type ON spool.entry (tenant, thread_id, type, seq);

CREATE INDEX entry_run ON spool.entry (tenant, thread_id, run_id, seq);

CREATE TABLE spool.park (
    tenant            text    COLLATE "C" NOT NULL,
    thread_id         text    COLLATE "C" NOT NULL,
    run_id            text    COLLATE "C" NOT NULL,
    tool_call_id      text    COLLATE "C" NOT NULL,
    ord               bigint  NOT NULL, -- the order of creation in the run, from 1
    tool_name         text    NOT NULL,
    agent_id          text    NOT NULL, -- the nested run that asks
    frames            text    NOT NULL, -- JSON, the calls above that wait with it
    step              bigint  NOT NULL,
    args              text    NOT NULL, -- JSON
    shown             text    NOT NULL, -- JSON
    reason            text    NOT NULL,
    occurrence        bigint  NOT NULL, -- the number of the call's question, from the second one on
    digest            text    NOT NULL, -- a hash of what the park asks
    state             text    NOT NULL,
    answer            text    NOT NULL, -- JSON
    before            text    NOT NULL, -- JSON
    landed            boolean NOT NULL,
    created_at        bigint  NOT NULL,
    expires_at        bigint  NOT NULL,
    expiry            text    NOT NULL, -- JSON, what becomes of the park when nobody answers
    warned            boolean NOT NULL,
    distinct_approver boolean NOT NULL,
    revision          text    NOT NULL, -- of the agent that asks
    CONSTRAINT park_pkey PRIMARY KEY (tenant, thread_id, run_id, tool_call_id)
) WITH (fillfactor = 85);

-- The open parks of a tenant, so that a list of them does not read closed ones. A park is open to answers once it has
-- a time of expiry.
CREATE INDEX park_age ON spool.park (tenant, created_at, run_id, tool_call_id, thread_id) WHERE state = 'open' AND expires_at > 0;

CREATE INDEX park_expiry ON spool.park (tenant, expires_at, run_id, tool_call_id, thread_id) WHERE state = 'open' AND expires_at > 0;

-- Those that nobody answered in time, of runs that go on or are over.
CREATE INDEX park_expired ON spool.park (tenant, expires_at, run_id, tool_call_id, thread_id) WHERE state = 'expired';

CREATE TABLE spool.effect (
    tenant       text   COLLATE "C" NOT NULL,
    thread_id    text   COLLATE "C" NOT NULL,
    run_id       text   COLLATE "C" NOT NULL,
    step         bigint NOT NULL,
    tool_call_id text   COLLATE "C" NOT NULL,
    ord          bigint NOT NULL, -- the order of the first put in the step, from 1
    state        text   NOT NULL,
    result       text   NOT NULL, -- JSON
    -- Nothing writes these yet: when the call of the tool began and ended.
    started_at   bigint NOT NULL DEFAULT 0,
    ended_at     bigint NOT NULL DEFAULT 0,
    CONSTRAINT effect_pkey PRIMARY KEY (tenant, thread_id, run_id, step, tool_call_id)
) WITH (fillfactor = 85);

-- The ledger: one row for each model attempt. A count is NULL if it was not reported, and cost is NULL if no price
-- is known.
CREATE TABLE spool.usage (
    tenant        text   COLLATE "C" NOT NULL,
    thread_id     text   COLLATE "C" NOT NULL,
    ord           bigint NOT NULL,
    run_id        text   COLLATE "C" NOT NULL,
    agent_id      text   COLLATE "C" NOT NULL,
    agent         text   NOT NULL,
    kind          text   NOT NULL,
    step          bigint NOT NULL,
    model         text   NOT NULL,
    model_id      text   NOT NULL, -- the provider's name of the model that answered
    requested     text   NOT NULL, -- the provider's name of the model that was asked
    outcome       text   NOT NULL,
    input         bigint,
    cache_read    bigint,
    cache_write   bigint,
    output        bigint,
    reasoning     bigint,
    guess_input   bigint, -- the guesses are those for counts that were not reported
    guess_output  bigint,
    cost          bigint, -- millionths of the currency
    currency      text   NOT NULL,
    cost_source   text   NOT NULL,
    price_version text   NOT NULL,
    created_at    bigint NOT NULL,
    -- Nothing writes these yet: when the attempt began, and the class of the error with which it failed.
    started_at    bigint NOT NULL DEFAULT 0,
    error_class   text   NOT NULL DEFAULT '',
    CONSTRAINT usage_pkey PRIMARY KEY (tenant, thread_id, ord)
);

CREATE INDEX usage_run ON spool.usage (tenant, thread_id, run_id, ord);

-- The sums of the ledger, so that reading them does not cost more with every step.
CREATE TABLE spool.usage_line (
    tenant       text   COLLATE "C" NOT NULL,
    thread_id    text   COLLATE "C" NOT NULL,
    agent_id     text   COLLATE "C" NOT NULL,
    agent        text   COLLATE "C" NOT NULL,
    model        text   COLLATE "C" NOT NULL,
    model_id     text   COLLATE "C" NOT NULL,
    currency     text   COLLATE "C" NOT NULL, -- '' for the calls without a price
    ord          bigint NOT NULL,             -- of the first row in the ledger
    input        bigint NOT NULL,
    cache_read   bigint NOT NULL,
    cache_write  bigint NOT NULL,
    output       bigint NOT NULL,
    reasoning    bigint NOT NULL,
    calls        bigint NOT NULL,
    estimated    bigint NOT NULL, -- the calls with a guess
    guess_input  bigint NOT NULL,
    guess_output bigint NOT NULL,
    cost         bigint NOT NULL,
    CONSTRAINT usage_line_pkey PRIMARY KEY (tenant, thread_id, agent_id, agent, model, model_id, currency)
) WITH (fillfactor = 70);

-- What the commits of a thread have changed of its snapshots.
CREATE TABLE spool.delta (
    tenant    text   COLLATE "C" NOT NULL,
    thread_id text   COLLATE "C" NOT NULL,
    version   bigint NOT NULL, -- from 1 without gaps
    seq       bigint NOT NULL, -- the last one of the record after the commit
    at        bigint NOT NULL,
    body      text   NOT NULL, -- JSON
    CONSTRAINT delta_pkey PRIMARY KEY (tenant, thread_id, version)
);

---------------------------------------------------------------------------------------------------------------
-- What belongs to a tenant
---------------------------------------------------------------------------------------------------------------

-- The sums of a tenant's threads and runs. Each is the sum of the tenant's rows, of which there are up to 16: a
-- transaction changes the row of its thread's shard, so that the commits of a tenant do not wait for each other.
-- A single row may be negative.
CREATE TABLE spool.tally (
    tenant              text   COLLATE "C" NOT NULL,
    shard               bigint NOT NULL,
    threads             bigint NOT NULL,
    idle                bigint NOT NULL, -- runs by state
    queued              bigint NOT NULL,
    running             bigint NOT NULL,
    waiting             bigint NOT NULL,
    completed           bigint NOT NULL,
    cancelled           bigint NOT NULL,
    failed              bigint NOT NULL,
    input_tokens        bigint NOT NULL, -- of the dispatched runs
    cached_input_tokens bigint NOT NULL,
    output_tokens       bigint NOT NULL,
    total_tokens        bigint NOT NULL,
    bytes               bigint NOT NULL,
    CONSTRAINT tally_pkey PRIMARY KEY (tenant, shard)
) WITH (fillfactor = 25, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- Who did what. A row is never changed, and stays when its thread is deleted: only its age removes it. The empty
-- tenant has the entries that belong to no tenant.
CREATE TABLE spool.audit (
    tenant       text   COLLATE "C" NOT NULL,
    seq          bigint NOT NULL, -- of the tenant, from 1
    at           bigint NOT NULL,
    action       text   NOT NULL,
    actor        text   NOT NULL,
    actor_tenant text   NOT NULL,
    thread_id    text   COLLATE "C" NOT NULL,
    run_id       text   NOT NULL,
    call_id      text   NOT NULL,
    job_id       bigint NOT NULL,
    approved     boolean,         -- NULL: the action is no answer
    digest       text   NOT NULL,
    reason       text   NOT NULL,
    count        bigint NOT NULL,
    address      text   NOT NULL,
    detail       text   NOT NULL, -- JSON
    CONSTRAINT audit_pkey PRIMARY KEY (tenant, seq)
);

CREATE INDEX audit_thread ON spool.audit (tenant, thread_id, seq);

CREATE INDEX audit_at ON spool.audit (at);

CREATE FUNCTION spool.audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;

CREATE TRIGGER audit_is_kept BEFORE UPDATE ON spool.audit
    FOR EACH ROW EXECUTE FUNCTION spool.audit_is_kept();

-- The last number of each tenant, which is not used again after its row was removed.
CREATE TABLE spool.audit_last (
    tenant text   COLLATE "C" NOT NULL,
    seq    bigint NOT NULL,
    CONSTRAINT audit_last_pkey PRIMARY KEY (tenant)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- Rows outside threads: spool.Row.
CREATE TABLE spool.shared_row (
    tenant     text   COLLATE "C" NOT NULL,
    kind       text   COLLATE "C" NOT NULL,
    key        text   COLLATE "C" NOT NULL,
    value      text   NOT NULL, -- JSON
    version    bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    CONSTRAINT shared_row_pkey PRIMARY KEY (tenant, kind, key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- What Check writes.
CREATE TABLE spool.probe (
    only_row boolean PRIMARY KEY CHECK (only_row),
    at       bigint  NOT NULL
) WITH (fillfactor = 25);

---------------------------------------------------------------------------------------------------------------
-- Jobs
---------------------------------------------------------------------------------------------------------------

-- A claim selects jobs within a queue by their lane: '' for an event of the outbox, '=' and the agent for a ticket.
-- A claim changes due_at, so it adds to the indexes. The table is small and changes all the time: a vacuum that comes
-- late makes claims slow.
CREATE TABLE spool.job (
    id        bigint  NOT NULL,
    tenant    text    COLLATE "C" NOT NULL,
    thread_id text    COLLATE "C" NOT NULL,
    run_id    text    COLLATE "C" NOT NULL, -- '' for an event of the outbox
    key       text    COLLATE "C" NOT NULL,
    kind      text    NOT NULL,
    agent     text    COLLATE "C" NOT NULL,
    model     text    NOT NULL,
    segment   bigint  NOT NULL,
    subject   text    COLLATE "C" NOT NULL DEFAULT '', -- who started the run, '' for nobody known
    queue     text    COLLATE "C" NOT NULL,
    payload   text    NOT NULL,               -- JSON, of an event
    first_due bigint  NOT NULL,
    due_at    bigint  NOT NULL,               -- when it may be claimed: for a claimed job, when the lease lapses
    claimed   boolean NOT NULL DEFAULT false,
    token     bigint  NOT NULL DEFAULT 0,     -- of the last claim; a release raises it, too
    attempts  bigint  NOT NULL DEFAULT 0,
    lane      text    COLLATE "C" NOT NULL GENERATED ALWAYS AS (CASE WHEN run_id = '' OR kind = 'settle' THEN '' ELSE '=' || agent END) STORED,
    CONSTRAINT job_pkey PRIMARY KEY (id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 500,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 500, autovacuum_vacuum_cost_delay = 0);

CREATE UNIQUE INDEX job_key ON spool.job (tenant, key) WHERE key <> '';

CREATE INDEX job_run ON spool.job (tenant, thread_id, run_id);

CREATE INDEX job_first_due ON spool.job (tenant, first_due, id);

-- What a claim reads: the jobs of a lane in due order, the jobs that each tenant and each of its subjects has in it, and
-- those in flight.
CREATE INDEX job_due ON spool.job (queue, lane, due_at, id);

CREATE INDEX job_tenant_due ON spool.job (queue, lane, tenant, due_at, id);

CREATE INDEX job_subject_due ON spool.job (queue, lane, tenant, subject, due_at, id);

CREATE INDEX job_claimed ON spool.job (tenant, due_at) WHERE claimed;

CREATE TABLE spool.job_dead (
    tenant    text   COLLATE "C" NOT NULL,
    id        bigint NOT NULL,
    thread_id text   COLLATE "C" NOT NULL,
    run_id    text   COLLATE "C" NOT NULL,
    key       text   COLLATE "C" NOT NULL,
    kind      text   NOT NULL,
    agent     text   NOT NULL,
    model     text   NOT NULL,
    segment   bigint NOT NULL,
    subject   text   COLLATE "C" NOT NULL DEFAULT '', -- who started the run, '' for nobody known
    queue     text   NOT NULL,
    payload   text   NOT NULL, -- JSON
    due_at    bigint NOT NULL, -- when it was due for the first time
    attempts  bigint NOT NULL,
    cause     text   NOT NULL,
    died_at   bigint NOT NULL,
    CONSTRAINT job_dead_pkey PRIMARY KEY (tenant, id)
);

CREATE INDEX job_dead_died ON spool.job_dead (tenant, died_at, id);

CREATE INDEX job_dead_thread ON spool.job_dead (tenant, thread_id);

---------------------------------------------------------------------------------------------------------------
-- Run streams
---------------------------------------------------------------------------------------------------------------

-- Nothing here is the truth: see spool.Live. The times are those of the server's clock, also in tests.
--
-- The items of a stream are in the partition of the hour in which the stream was opened. A partition is dropped, with
-- the streams of its hour, when all of them are over. So the many small rows of tokens are never deleted one by one.
CREATE TABLE spool.stream_hour (
    hour bigint NOT NULL, -- hours since 1970
    CONSTRAINT stream_hour_pkey PRIMARY KEY (hour)
);

-- An append changes last_fence and last_n, and no index has them (HOT).
CREATE TABLE spool.stream (
    tenant     text    COLLATE "C" NOT NULL,
    thread_id  text    COLLATE "C" NOT NULL,
    id         text    COLLATE "C" NOT NULL,
    number     bigint  NOT NULL GENERATED ALWAYS AS IDENTITY,
    hour       bigint  NOT NULL,
    opened_at  bigint  NOT NULL,
    last_fence bigint  NOT NULL DEFAULT 0,
    last_n     bigint  NOT NULL DEFAULT 0,
    closed     boolean NOT NULL DEFAULT false,
    expires_at bigint  NOT NULL DEFAULT 0, -- when a closed stream is gone
    CONSTRAINT stream_pkey PRIMARY KEY (tenant, thread_id, id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX stream_over ON spool.stream (hour, expires_at);

CREATE TABLE spool.stream_item (
    hour   bigint NOT NULL,
    stream bigint NOT NULL, -- stream.number
    fence  bigint NOT NULL,
    n      bigint NOT NULL,
    type   text   NOT NULL,
    seq    bigint NOT NULL,
    data   bytea  NOT NULL,
    CONSTRAINT stream_item_pkey PRIMARY KEY (hour, stream, fence, n)
) PARTITION BY LIST (hour);

-- The wake-ups of the last seconds, for processes that cannot LISTEN. An id is given out under a lock, so it is
-- committed before the next one is given out.
CREATE TABLE spool.wake (
    id   bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    at   bigint NOT NULL,
    node text   NOT NULL,
    body bytea  NOT NULL,
    CONSTRAINT wake_pkey PRIMARY KEY (id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
