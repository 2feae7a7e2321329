-- Who did what. A row is never changed, and stays when the thread that it is about goes: only
-- its age removes it. The empty tenant has what belongs to no tenant.
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
    approved     INTEGER,          -- NULL: no answer
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

-- The last number of each tenant, which does not come back when its row has gone.
CREATE TABLE audit_last (
    tenant TEXT    NOT NULL PRIMARY KEY,
    seq    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
