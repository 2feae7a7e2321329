-- Who started a run, '' where nobody knows, and whether that subject may answer a park.

ALTER TABLE run ADD COLUMN started_by TEXT NOT NULL DEFAULT '';

ALTER TABLE park ADD COLUMN distinct_approver INTEGER NOT NULL DEFAULT 0;
