-- What leaves the view is a branch, and can come back: base is the message that its first
-- one stood behind, '' for the beginning of the thread. Ids of messages are unique in
-- the thread, so that a branch never brings one back that is there.

CREATE TABLE branch (
    tenant     TEXT    NOT NULL,
    thread_id  TEXT    NOT NULL,
    id         INTEGER NOT NULL, -- what its messages have in dropped
    base       TEXT    NOT NULL,
    run_id     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread_id, id)
) STRICT, WITHOUT ROWID;

DROP INDEX message_id;

CREATE UNIQUE INDEX message_id ON message (tenant, thread_id, id);

CREATE INDEX message_branch ON message (tenant, thread_id, dropped, ord) WHERE dropped IS NOT NULL;

-- Nothing has come back so far: what stood before the first message of an edit is what was
-- not dropped by then.
INSERT INTO branch (tenant, thread_id, id, base, run_id, created_at)
SELECT d.tenant, d.thread_id, d.dropped,
    coalesce((
        SELECT b.id FROM message b
        WHERE b.tenant = d.tenant AND b.thread_id = d.thread_id AND b.ord < d.first
            AND (b.dropped IS NULL OR b.dropped > d.dropped)
        ORDER BY b.ord DESC LIMIT 1
    ), ''),
    coalesce(e.run_id, ''), coalesce(e.created_at, 0)
FROM (
    SELECT tenant, thread_id, dropped, min(ord) AS first FROM message
    WHERE dropped IS NOT NULL GROUP BY tenant, thread_id, dropped
) d
LEFT JOIN entry e ON e.tenant = d.tenant AND e.thread_id = d.thread_id AND e.seq = d.dropped;
