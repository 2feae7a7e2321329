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
