-- How much of the file a thread takes, and how much of that its tenant's sum has: see size.go. The
-- sum is the row of the state 'bytes'.
ALTER TABLE thread ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

ALTER TABLE thread ADD COLUMN bytes_summed INTEGER NOT NULL DEFAULT 0;

UPDATE thread SET bytes = 1024
    + coalesce((SELECT sum(1024 + octet_length(host_state) + octet_length(wait) + octet_length(nested))
        FROM run WHERE run.tenant = thread.tenant AND run.thread_id = thread.id), 0)
    + coalesce((SELECT sum(256 + octet_length(content) * iif(role = 'tool', 2, 1))
        FROM message WHERE message.tenant = thread.tenant AND message.thread_id = thread.id), 0)
    + coalesce((SELECT sum(256 + octet_length(payload))
        FROM entry WHERE entry.tenant = thread.tenant AND entry.thread_id = thread.id), 0);

UPDATE thread SET bytes_summed = bytes;

INSERT INTO tally SELECT tenant, 'bytes', sum(bytes), 0, 0, 0, 0 FROM thread GROUP BY tenant;
