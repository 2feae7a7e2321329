-- The revision of the agent that asks. '': the park is older than revisions.
ALTER TABLE park ADD COLUMN revision TEXT NOT NULL DEFAULT '';
