-- Runs that wait for their thread, which are not active: place orders them, the smallest
-- first, and is 0 for a run that does not wait.

ALTER TABLE run ADD COLUMN place INTEGER NOT NULL DEFAULT 0;

ALTER TABLE run ADD COLUMN wait TEXT NOT NULL DEFAULT ''; -- JSON

DROP INDEX run_active;

CREATE UNIQUE INDEX run_active ON run (tenant, thread_id)
    WHERE depth = 0 AND place = 0 AND state IN ('QUEUED', 'RUNNING', 'WAITING_FOR_INPUT');

CREATE INDEX run_waiting ON run (tenant, thread_id, place) WHERE place > 0;
