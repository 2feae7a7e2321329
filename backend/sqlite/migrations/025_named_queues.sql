-- The named queue of a job, '' for the default one, and the JSON of an event of the outbox, '' for
-- a ticket of a run. An event has no run.
ALTER TABLE job ADD COLUMN queue TEXT NOT NULL DEFAULT '';

ALTER TABLE job ADD COLUMN payload TEXT NOT NULL DEFAULT '';

ALTER TABLE job_dead ADD COLUMN queue TEXT NOT NULL DEFAULT '';

ALTER TABLE job_dead ADD COLUMN payload TEXT NOT NULL DEFAULT '';

-- By which a worker selects jobs within a queue: '' for an event and for what settles a run, '=' and the
-- agent for another ticket.
ALTER TABLE job ADD COLUMN lane TEXT NOT NULL DEFAULT '';

UPDATE job SET lane = '=' || agent WHERE run_id <> '' AND kind <> 'settle';

-- What a claim reads: the jobs of a lane in due order, the tenants that have jobs in it, and the
-- jobs of one of them in due order.
DROP INDEX job_due;

CREATE INDEX job_due ON job (queue, lane, due_at, id);

DROP INDEX job_tenant_due;

CREATE INDEX job_tenant_due ON job (queue, lane, tenant, due_at, id);

-- Values outside a thread: spool.Row. The empty tenant has those of the installation.
CREATE TABLE keyed_value (
    tenant     TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    value      TEXT    NOT NULL, -- JSON
    version    INTEGER NOT NULL, -- how often it was written, from 1
    updated_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL, -- 0: never
    PRIMARY KEY (tenant, kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX keyed_value_expires ON keyed_value (expires_at) WHERE expires_at > 0;
