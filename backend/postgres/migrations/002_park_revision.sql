-- oldest: 1
-- The revision of the agent that asks. '': the park is older than revisions.
ALTER TABLE spool.park ADD COLUMN revision text NOT NULL DEFAULT '';
