-- From the second question of a tool call on, its number. 0 for the first, and for a park that
-- was made before.
ALTER TABLE park ADD COLUMN occurrence INTEGER NOT NULL DEFAULT 0;

-- How long workers have carried the run, in microseconds, and since when one does. 0 for a run
-- that nobody carries, or whose worker took it before.
ALTER TABLE run ADD COLUMN carried INTEGER NOT NULL DEFAULT 0;

ALTER TABLE run ADD COLUMN carried_since INTEGER NOT NULL DEFAULT 0;

-- Whether the latest segment is carried alone, because workers died in the run's step, and in
-- how many such segments one died again.
ALTER TABLE run ADD COLUMN alone INTEGER NOT NULL DEFAULT 0;

ALTER TABLE run ADD COLUMN alone_deaths INTEGER NOT NULL DEFAULT 0;

-- What a claim reads: the tenants that have jobs, their jobs in due order, and who has how
-- many in flight.
CREATE INDEX job_tenant_due ON job (tenant, due_at, id);

CREATE INDEX job_claimed ON job (tenant, due_at) WHERE claimed = 1;
