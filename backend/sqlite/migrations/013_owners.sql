-- Whose a thread is, and what people have written on it. '' for nobody and nothing. The threads
-- of before are whose first run it was.
ALTER TABLE thread ADD COLUMN owner TEXT NOT NULL DEFAULT '';

ALTER TABLE thread ADD COLUMN labels TEXT NOT NULL DEFAULT ''; -- JSON

UPDATE thread SET owner = coalesce((
    SELECT started_by FROM run WHERE run.tenant = thread.tenant AND run.thread_id = thread.id ORDER BY ord LIMIT 1
), '');

CREATE INDEX thread_owner ON thread (tenant, owner, updated_at, id) WHERE owner <> '';

-- The scopes of who started the run, as JSON, by which it has its tools.
ALTER TABLE run ADD COLUMN scopes TEXT NOT NULL DEFAULT '';
