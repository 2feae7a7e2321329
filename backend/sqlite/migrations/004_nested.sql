-- Runs that another run of the thread has spawned. root_id is the dispatched run at the top,
-- '' for one itself; nested is what only they have, as JSON; children counts them.

ALTER TABLE run ADD COLUMN root_id TEXT NOT NULL DEFAULT '';

ALTER TABLE run ADD COLUMN nested TEXT NOT NULL DEFAULT ''; -- JSON

ALTER TABLE run ADD COLUMN children INTEGER NOT NULL DEFAULT 0;

CREATE INDEX run_nested ON run (tenant, thread_id, root_id, ord) WHERE root_id <> '';

-- Which of them asks, and the calls above that wait with it, as JSON.

ALTER TABLE park ADD COLUMN agent_id TEXT NOT NULL DEFAULT '';

ALTER TABLE park ADD COLUMN frames TEXT NOT NULL DEFAULT ''; -- JSON
