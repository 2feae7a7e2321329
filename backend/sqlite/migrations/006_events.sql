-- What the host gave to the start of a run, as JSON, for its tools. '' for nothing.
ALTER TABLE run ADD COLUMN host_state TEXT NOT NULL DEFAULT '';
